import { type ManifestFinding, meSchema, type ValidateAnswer, validateAnswerSchema, validateRequestSchema } from '@tranche/api-schema'
import { type ManifestDocument, readManifests } from '@tranche/manifests'
import { type Advice, checkDocuments, type Problem } from '@tranche/validation'
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

type Content = ManifestDocument['content']

function validated(manifests: string): ValidateAnswer {
  const contents = readManifests(manifests).map(({ content }) => content)
  const findings = checkDocuments(contents.map((content) => (content.kind === 'value' ? content.value : null)))
  const problems = contents.flatMap((content, at) => [
    ...unreadable(content, at),
    ...(findings[at]?.problems ?? []).map((problem) => toFinding(content, at, problem)),
  ])
  if (contents.length === 0) problems.push(empty)
  const advice = contents.flatMap((content, at) => (findings[at]?.advice ?? []).map((one) => toFinding(content, at, one)))
  return { valid: problems.length === 0, problems, advice }
}

/** Who has nothing checked believes that all is well. */
const empty: ManifestFinding = {
  document: 1,
  object: '',
  rule: 'Syntax',
  path: 'the document',
  message: 'it is empty',
  fix: 'write a document in YAML or JSON',
}

function unreadable(content: Content, at: number): readonly ManifestFinding[] {
  if (content.kind === 'value') return []
  const fix = 'write YAML or JSON, with --- between two documents'
  return [{ document: at + 1, object: '', rule: 'Syntax', path: 'the document', message: `it cannot be read: ${content.why}`, fix }]
}

function toFinding(content: Content, at: number, { rule, path, value, message, fix }: Problem | Advice): ManifestFinding {
  return { document: at + 1, object: objectText(content), rule, path, message, fix, ...(value !== undefined && { value }) }
}

function objectText(content: Content): string {
  const { kind, metadata } = (content.kind === 'value' ? (content.value ?? {}) : {}) as {
    readonly kind?: unknown
    readonly metadata?: { readonly name?: unknown } | null
  }
  return [kind, metadata?.name].filter((part) => typeof part === 'string').join('/')
}
