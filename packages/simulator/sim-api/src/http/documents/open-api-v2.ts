import type { OpenApiSchema } from '../../schema/open-api-schemas.ts'
import { isObject } from '../../model/json.ts'

/** Parts of an OpenAPI v3 document that ours use. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  /** Operations by path, then by method, and `parameters` common to a path. */
  readonly paths: Readonly<Record<string, object>>
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>>; readonly securitySchemes: object }
}

/** @returns one document in the older form (Swagger 2.0), with the content of all given ones */
export function toVersion2(documents: readonly OpenApiDocument[]): object {
  const paths = documents.flatMap((document) => Object.entries(document.paths).map(([path, operations]) => [path, pathItem(operations)]))
  const schemas = documents.flatMap((document) => Object.entries(document.components.schemas))
  const [first] = documents
  return {
    swagger: '2.0',
    info: first?.info ?? {},
    paths: Object.fromEntries(paths) as object,
    definitions: Object.fromEntries(schemas.map(([name, schema]) => [name, oldSchema(schema)])),
    securityDefinitions: first?.components.securitySchemes ?? {},
    security: [{ BearerToken: [] }],
  }
}

function pathItem(operations: object): object {
  return Object.fromEntries(
    Object.entries(operations).map(([method, value]) => [
      method,
      method === 'parameters' ? (value as readonly OpenApiSchema[]).map(oldParameter) : oldOperation(value as OpenApiSchema),
    ]),
  )
}

function oldOperation({ parameters, requestBody, responses, ...rest }: OpenApiSchema): object {
  const body = contentOf(requestBody)
  const bodyParameter = body.schema === undefined ? [] : [{ name: 'body', in: 'body', required: true, schema: oldSchema(body.schema) }]
  return {
    ...rest,
    consumes: body.types.length === 0 ? ['*/*'] : body.types,
    produces: ['application/json'],
    parameters: [...bodyParameter, ...((parameters ?? []) as readonly OpenApiSchema[]).map(oldParameter)],
    responses: Object.fromEntries(
      Object.entries(responses as object).map(([code, answer]) => [code, oldResponse(answer as OpenApiSchema)]),
    ),
  }
}

function oldParameter({ schema, ...rest }: OpenApiSchema): object {
  return { ...rest, ...(schema as object) }
}

function oldResponse(answer: OpenApiSchema): object {
  const { schema } = contentOf(answer)
  return { description: answer['description'], ...(schema !== undefined && { schema: oldSchema(schema) }) }
}

function contentOf(value: unknown): { readonly types: readonly string[]; readonly schema?: unknown } {
  const content = isObject(value) && isObject(value['content']) ? value['content'] : {}
  const first = Object.values(content)[0]
  return { types: Object.keys(content), ...(isObject(first) && { schema: first['schema'] }) }
}

/** References have another target, and are siblings of other keywords instead of in a one-item list. */
function oldSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(oldSchema)
  if (!isObject(schema)) return schema
  const { allOf, $ref, oneOf, ...rest } = schema
  const only = Array.isArray(allOf) && allOf.length === 1 ? (allOf[0] as unknown) : undefined
  const reference = isObject(only) ? only['$ref'] : $ref
  const kept = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, oldSchema(value)]))
  if (typeof reference === 'string') return { ...kept, $ref: reference.replace('#/components/schemas/', '#/definitions/') }
  return oneOf !== undefined && typeof rest['format'] === 'string' ? { ...kept, type: 'string' } : kept
}
