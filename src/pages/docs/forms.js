/**
 * The inputs of parameters. Each has a name for assistive technology, which those of Swagger UI lack in part. A list is
 * one input, with commas as in the URL.
 *
 * @param {SwaggerUI.System} system
 * @returns {SwaggerUI.Plugin}
 */
export function formPlugin({ React: { createElement } }) {
  /**
   * @param {SwaggerUI.InputProps} props
   * @param {(text: string) => SwaggerUI.Value} valueOf
   */
  const textInput = ({ value, schema, description, errors, disabled, onChange }, valueOf) =>
    createElement('input', {
      type: 'text',
      'aria-label': description,
      'aria-invalid': errors.size > 0,
      title: errors.size > 0 ? errors.join(', ') : undefined,
      placeholder: textOf(schema.getIn(['examples', 0])),
      value: textOf(value),
      disabled,
      /** @param {SwaggerUI.InputEvent} event */
      onChange: ({ target }) => {
        onChange(valueOf(target.value));
      },
    });

  /**
   * @param {SwaggerUI.InputProps} props
   * @param {readonly string[]} choices
   */
  const choiceInput = ({ value, description, required, disabled, onChange }, choices) => {
    const all = required ? choices : ['', ...choices];
    const options = all.map((choice) => createElement('option', { key: choice, value: choice }, choice));
    /** @param {SwaggerUI.InputEvent} event */
    const change = ({ target }) => {
      onChange(target.value);
    };
    const props = { 'aria-label': description, value: textOf(value), disabled, onChange: change };
    return createElement('select', props, ...options);
  };

  return {
    components: {
      /** @param {SwaggerUI.InputProps} props */
      JsonSchema_string: (props) => {
        const choices = props.schema.get('enum');
        return isList(choices) ? choiceInput(props, choices.toJS()) : textInput(props, (text) => text);
      },
      /** @param {SwaggerUI.InputProps} props */
      JsonSchema_boolean: (props) => choiceInput(props, ['true', 'false']),
      /** @param {SwaggerUI.InputProps} props */
      JsonSchema_array: (props) => textInput(props, (text) => (text === '' ? '' : text.split(','))),
    },
  };
}

/**
 * Returns the text of a value, such as a text, or an array or Immutable list of texts.
 *
 * @param {SwaggerUI.Value} value
 */
function textOf(value) {
  if (value === undefined) return '';
  return typeof value === 'object' ? value.join(',') : String(value);
}

/**
 * @param {SwaggerUI.Value} value
 * @returns {value is SwaggerUI.List}
 */
function isList(value) {
  return typeof value === 'object' && 'toJS' in value;
}
