/** The part of JSON Schema that request schemas of the API use. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly maxItems?: number
}

/** Path, query or header parameter of an operation. */
export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}

/** Operation of the API, from `/openapi.json`. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** Path template: `/api/v1/rollouts/{name}`. */
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Schema of the request body; undefined without a body. */
  readonly body: Schema | undefined
  /** Whether it needs no token. */
  readonly isOpen: boolean
  /** By status, or `default`; then by media type. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Schema>>>>
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

interface DescribedOperation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly security?: readonly object[]
  readonly responses: Readonly<Record<string, Content>>
}

/** OpenAPI 3.1 document. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** @returns every operation of an OpenAPI document */
export function operationsOf({ paths }: Description): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      parameters: described.parameters ?? [],
      body: Object.values(described.requestBody?.content ?? {})[0]?.schema,
      isOpen: described.security?.length === 0,
      answers: Object.fromEntries(Object.entries(described.responses).map(([status, answer]) => [status, schemasOf(answer)])),
    })),
  )
}

function schemasOf({ content = {} }: Content): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(content).map(([type, { schema = {} }]) => [type, schema]))
}

/** @returns the schema with its `$ref` resolved */
export function resolved(schema: Schema, { components }: Pick<Description, 'components'>): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (components.schemas[name] ?? {})
}
