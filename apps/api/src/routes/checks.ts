import { type ManifestFinding, meSchema, type ValidateAnswer, validateAnswerSchema, validateRequestSchema } from '@tranche/api-schema'
import { type Advice, checkDocuments, type Problem } from '@tranche/validation'
import { type Document, isScalar, parseAllDocuments, visit } from 'yaml'
import { callerOf } from '../auth/guard.ts'
import type { ApiServer } from '../http/create-server.ts'
import { answers, type RouteParts, tags } from './route-parts.ts'

/** Routes that need no more than a good token: who am I, and are these manifests right? */
export async function addCheckRoutes(app: ApiServer, { limits }: Pick<RouteParts, 'limits'>): Promise<void> {
  app.get(
    '/api/v1/me',
    {
      config: { access: { kind: 'authenticated', why: 'it tells callers what the API server says of themselves' } },
      schema: { tags: tags.checks, operationId: 'whoAmI', summary: 'Who the token stands for', response: answers(meSchema) },
    },
    async (request) => {
      const { username, uid, groups } = callerOf(request)
      const csrfToken = request.loginSession?.csrfToken
      return { username, groups, ...(uid !== undefined && { uid }), ...(csrfToken !== undefined && { csrfToken }) }
    },
  )
  await app.register(async (scope: ApiServer) => {
    scope.addContentTypeParser(
      ['application/yaml', 'application/x-yaml', 'text/yaml'],
      { parseAs: 'string' },
      async (_request: unknown, body: string) => ({
        manifests: body,
      }),
    )
    scope.post(
      '/api/v1/validate',
      {
        config: { access: { kind: 'authenticated', why: 'it looks at what was sent alone, and at nothing of the cluster' } },
        bodyLimit: limits.manifestBytes,
        schema: {
          tags: tags.checks,
          operationId: 'validate',
          summary: 'Check manifests, as `tranche lint` does',
          description: 'All documents are checked together. YAML may also be sent as it is, with `Content-Type: application/yaml`.',
          body: validateRequestSchema,
          response: answers(validateAnswerSchema),
        },
      },
      async ({ body }) => validated(body.manifests),
    )
  })
}

type Content = { readonly value: unknown } | { readonly why: string }

function validated(manifests: string): ValidateAnswer {
  const contents = contentsOf(manifests)
  const findings = checkDocuments(contents.map((content) => ('value' in content ? content.value : null)))
  const problems = contents.flatMap((content, at) => [
    ...unreadable(content, at),
    ...(findings[at]?.problems ?? []).map((problem) => toFinding(content, at, problem)),
  ])
  const advice = contents.flatMap((content, at) => (findings[at]?.advice ?? []).map((one) => toFinding(content, at, one)))
  return { valid: problems.length === 0, problems, advice }
}

/** Empty documents are left out, the items of a List stand for themselves. */
function contentsOf(manifests: string): readonly Content[] {
  // The parser's own look for keys that stand twice takes time by the square of their number.
  return [...parseAllDocuments(manifests, { merge: true, uniqueKeys: false, prettyErrors: false })].flatMap(
    (document): readonly Content[] => {
      const [error] = document.errors
      const why = error?.message ?? keyTwice(document)
      if (why !== undefined) return [{ why }]
      const content = read(() => document.toJS() as unknown)
      return 'value' in content ? itemsOf(content.value) : [content]
    },
  )
}

/** @returns what is wrong where a mapping has a key twice; merge keys may */
function keyTwice(document: Document): string | undefined {
  let found: string | undefined
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        if (seen.has(name) && name !== '<<') found ??= `Map keys must be unique; ${JSON.stringify(name)} stands twice`
        seen.add(name)
      }
      return found === undefined ? undefined : visit.BREAK
    },
  })
  return found
}

/** Anchors that multiply a document without end are refused by the parser. */
function read(toValue: () => unknown): Content {
  try {
    return { value: toValue() }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

function itemsOf(value: unknown): readonly Content[] {
  if (value === null || value === undefined) return []
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown }
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [{ value }]
  return items.map((item: unknown) => ({ value: item }))
}

function unreadable(content: Content, at: number): readonly ManifestFinding[] {
  if ('value' in content) return []
  const fix = 'write YAML or JSON, with --- between two documents'
  return [{ document: at + 1, object: '', rule: 'Syntax', path: 'the document', message: `it cannot be read: ${content.why}`, fix }]
}

function toFinding(content: Content, at: number, { rule, path, value, message, fix }: Problem | Advice): ManifestFinding {
  return { document: at + 1, object: objectText(content), rule, path, message, fix, ...(value !== undefined && { value }) }
}

function objectText(content: Content): string {
  const { kind, metadata } = ('value' in content ? (content.value ?? {}) : {}) as {
    readonly kind?: unknown
    readonly metadata?: { readonly name?: unknown } | null
  }
  return [kind, metadata?.name].filter((part) => typeof part === 'string').join('/')
}
