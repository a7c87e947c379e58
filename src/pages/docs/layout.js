/**
 * Reduces Swagger UI to a description, operations and schemas. The page has a header and a form for the key itself, and
 * one server.
 *
 * @param {SwaggerUI.System} system
 * @returns {SwaggerUI.Plugin}
 */
export function layoutPlugin({ React: { createElement } }) {
  return {
    components: {
      /** @param {SwaggerUI.LayoutProps} props */
      Layout: ({ getComponent, specSelectors }) => {
        const source = specSelectors.info().get('description');
        return createElement(
          'div',
          { className: 'swagger-ui' },
          createElement(getComponent('SvgAssets'), {}),
          createElement(getComponent('Markdown', true), { source }),
          createElement(getComponent('errors', true), {}),
          createElement('h2', null, 'Operations'),
          createElement('p', null, 'Write values as they are: the page encodes them.'),
          createElement(getComponent('operations', true), {}),
          createElement(getComponent('Models', true), {}),
        );
      },
      authorizeOperationBtn: () => null,
      // A link within the button of an operation could not be reached by assistive technology. Opening an operation sets
      // the address of the page in any case.
      /** @param {{ readonly text: string }} props */
      DeepLink: ({ text }) => createElement('span', null, text),
    },
    wrapComponents: {
      headers: (original) => (/** @type {SwaggerUI.HeadersProps} */ props) =>
        createElement(
          'details',
          { className: 'response-headers' },
          createElement('summary', null, `Headers (${props.headers.size})`),
          createElement(original, props),
        ),
      // A long body scrolls, by keyboard too, while its buttons stay in place.
      HighlightCode: (original) => (/** @type {SwaggerUI.Props} */ props) =>
        createElement(
          'div',
          { className: 'code' },
          createElement(
            'div',
            { className: 'code-scroll', tabIndex: 0, role: 'group', 'aria-label': 'Body' },
            // Without a language, the highlighter tries all of them, which takes half a minute for a long stream.
            createElement(original, { ...props, language: props['language'] ?? 'text' }),
          ),
        ),
    },
  };
}
