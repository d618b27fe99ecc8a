import { describeApi } from '../../apps/api/src/index.ts'
import { type FieldSchema, fieldRows, typeText } from './fields.ts'
import { anchor, code, MADE, page, prose, table } from './markdown.ts'

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: FieldSchema
}

type Content = Readonly<Record<string, { readonly schema?: FieldSchema }>>

interface OpenApi {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, FieldSchema>> }
}

/** @returns the page of the REST API: every route with its parameters, body and answers, and every schema */
export async function restPage(): Promise<string> {
  const api = (await describeApi()) as unknown as OpenApi
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, operation })),
  )
  return page([
    '# Routes of the REST API',
    MADE,
    `${prose(api.info.description)} The same as [OpenAPI](../../apps/api/openapi.json). For its use, see [REST API](../guides/rest.md).`,
    table(
      ['route', 'does'],
      routes.map(({ title, operation }) => [`[${code(title)}](#${anchor(title)})`, operation.summary ?? '']),
    ),
    'Unless it says otherwise, a route requires `Authorization: Bearer TOKEN` with a token that the API server of the cluster accepts. Errors are answered with a [Problem](#problem).',
    ...routes.flatMap(({ title, operation }) => routeParts(title, operation)),
    '## Schemas',
    ...Object.entries(api.components.schemas).flatMap(([name, schema]) => schemaParts(name, schema)),
  ])
}

function routeParts(
  title: string,
  { summary, description, security, parameters = [], requestBody, responses }: Operation,
): readonly string[] {
  const rows = parameters.map((one) => [
    code(one.name),
    one.in,
    typeText(one.schema),
    one.schema.default === undefined ? (one.required === true ? 'required' : '') : code(JSON.stringify(one.schema.default)),
    prose(one.description ?? ''),
  ])
  return [
    `### ${title}`,
    `${summary}.${security?.length === 0 ? ' Needs no token.' : ''}${description === undefined ? '' : ` ${description}`}`,
    rows.length === 0 ? '' : table(['parameter', 'in', 'type', 'required, or default', 'means'], rows),
    [
      ...(requestBody === undefined ? [] : [`- takes ${contentText(requestBody.content)}`]),
      ...Object.entries(responses)
        .filter(([status]) => status !== 'default')
        .map(([status, { content }]) => `- ${status}: ${content === undefined ? 'no body' : contentText(content)}`),
    ].join('\n'),
  ]
}

function contentText(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `${schema === undefined ? 'text' : typeText(schema)} (${code(type)})`)
    .join(', or ')
}

function schemaParts(name: string, schema: FieldSchema): readonly string[] {
  const choices = schema.anyOf ?? schema.oneOf
  const rows = (choices ?? [schema]).flatMap((choice) => fieldRows(choice))
  const lead = choices !== undefined && rows.length > 0 ? `One of ${choices.length} forms; the fields of each in turn:` : ''
  const type = rows.length === 0 ? typeText(schema) : ''
  return [
    `### ${name}`,
    prose(schema.description ?? ''),
    lead,
    type,
    rows.length === 0 ? '' : table(['field', 'type', 'required, or default', 'means'], rows),
  ]
}
