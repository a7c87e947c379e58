import { copy, curlLine, maskedCurlLine } from '../shared/curl.js';
import { LINES_TYPE } from '../shared/exchange.js';
import { UNREACHABLE } from '../shared/session.js';

/**
 * The request that was sent, with the secret of the key hidden, and the response: also lines, or none that came.
 *
 * @param {SwaggerUI.System} system
 * @returns {SwaggerUI.Plugin}
 */
export function requestPlugin({ React: { createElement, useState } }) {
  return {
    components: {
      /** @param {SwaggerUI.CurlProps} props */
      curl: ({ request }) => {
        const [outcome, setOutcome] = useState('');
        const { url, headers } = request.toJS();
        const fields = Object.entries(headers);
        const onClick = async () => {
          setOutcome(await copy(curlLine(url, fields)));
        };
        return createElement(
          'div',
          { className: 'curl-command' },
          createElement('h4', null, 'Curl'),
          createElement('pre', { className: 'microlight' }, maskedCurlLine(url, fields)),
          createElement(
            'button',
            { type: 'button', className: 'btn', onClick: () => void onClick() },
            'Authorization' in headers ? 'Copy with the key' : 'Copy',
          ),
          createElement('span', { className: 'outcome', role: 'status' }, outcome),
        );
      },
    },
    wrapComponents: {
      liveResponse: (original) => (/** @type {SwaggerUI.LiveResponseProps} */ props) =>
        props.response.get('status') === undefined
          ? createElement('p', { className: 'unreachable bad', role: 'alert' }, UNREACHABLE)
          : createElement(original, props),
      // Swagger UI would take lines of JSON for malformed JSON. Other text is shown as it is.
      responseBody: (original) => (/** @type {SwaggerUI.ResponseBodyProps} */ props) =>
        createElement(
          original,
          props.contentType?.startsWith(LINES_TYPE) ? { ...props, contentType: '' } : props,
        ),
    },
  };
}
