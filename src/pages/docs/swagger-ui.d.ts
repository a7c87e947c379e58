/**
 * The parts of Swagger UI that the page uses: the library has no types. Its components are those of React, and its data
 * are maps and lists of Immutable.
 */
declare namespace SwaggerUI {
  /** An element of React. */
  interface ReactElement {
    readonly type: unknown;
  }

  type Component<Props> = (props: Props) => ReactElement | null;
  type Props = Readonly<Record<string, unknown>>;

  interface System {
    readonly React: {
      readonly createElement: <P extends object>(
        type: string | Component<P>,
        props: P | null,
        ...children: readonly (ReactElement | string)[]
      ) => ReactElement;
      readonly useState: (initial: string) => [string, (next: string) => void];
    };
  }

  interface List {
    readonly size: number;
    join(separator: string): string;
    toJS(): readonly string[];
  }

  type Value = string | number | boolean | readonly string[] | List | undefined;

  interface Map {
    readonly size: number;
    get(key: string): Value;
    getIn(path: readonly (string | number)[]): Value;
  }

  interface LayoutProps {
    readonly getComponent: (name: string, isContainer?: boolean) => Component<Props>;
    readonly specSelectors: { info(): Map };
  }

  interface InputProps {
    readonly value: Value;
    readonly schema: Map;
    /** Name and description of the parameter. */
    readonly description: string;
    readonly required: boolean;
    readonly disabled?: boolean;
    readonly errors: List;
    readonly onChange: (value: Value) => void;
  }

  interface HeadersProps extends Props {
    readonly headers: Map;
  }

  interface CurlProps {
    /** Map of Immutable. */
    readonly request: {
      toJS(): { readonly url: string; readonly headers: Readonly<Record<string, string>> };
    };
  }

  interface LiveResponseProps extends Props {
    readonly response: Map;
  }

  interface ResponseBodyProps extends Props {
    readonly contentType?: string;
  }

  interface InputEvent {
    readonly target: { readonly value: string };
  }

  /** https://github.com/swagger-api/swagger-ui/blob/master/docs/customization/plugin-api.md */
  interface Plugin {
    readonly components?: Readonly<Record<string, Component<never>>>;
    readonly wrapComponents?: Readonly<Record<string, (original: Component<Props>) => Component<never>>>;
  }

  /** https://github.com/swagger-api/swagger-ui/blob/master/docs/usage/configuration.md */
  interface Options {
    readonly domNode: Element;
    readonly spec: object;
    readonly plugins: readonly ((system: System) => Plugin)[];
    readonly layout: string;
    readonly deepLinking: boolean;
    readonly docExpansion: 'list' | 'full' | 'none';
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly tryItOutEnabled: boolean;
    readonly validatorUrl: null;
  }

  interface Instance {
    preauthorizeApiKey(scheme: string, key: string): void;
    readonly oas3Actions: {
      setResponseContentType(choice: {
        readonly path: string;
        readonly method: 'get';
        readonly value: string | undefined;
      }): void;
    };
    readonly authActions: { logout(schemes: readonly string[]): void };
  }
}

declare const SwaggerUIBundle: (options: SwaggerUI.Options) => SwaggerUI.Instance;
