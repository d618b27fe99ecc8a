import { type DefinedKind, missingFields } from '@tranche/api-schema'
import { isNotFound, type KubeClient } from '@tranche/kube-client'

const groups: readonly { readonly group: string; readonly version: string; readonly kinds: readonly DefinedKind[] }[] = [
  { group: 'rollouts.kruise.io', version: 'v1beta1', kinds: ['Rollout', 'BatchRelease'] },
  { group: 'tranche.dev', version: 'v1alpha1', kinds: ['ReleasePolicy'] },
]

/** Maximum number of missing fields that are named; the others are counted. */
const NAMED_FIELDS = 3

/**
 * Reads the schemas that the API server serves, and reports which of Tranche's fields it would drop. Every authenticated user may read
 * them.
 *
 * A definition that is entirely absent is not reported here: users of its kind report it.
 *
 * @param asked kinds to check; undefined: all
 * @returns what is missing and the fix, as a sentence without a full stop; null if every field is kept, or the schemas are not published
 *   yet
 * @throws {AppError} if the API server does not answer
 */
export async function readSchemaGap(
  client: Pick<KubeClient, 'text'>,
  signal: AbortSignal | undefined,
  asked?: readonly DefinedKind[],
): Promise<string | null> {
  const gaps: string[] = []
  for (const { group, version, kinds: all } of groups) {
    const kinds = all.filter((kind) => asked === undefined || asked.includes(kind))
    if (kinds.length === 0) continue
    const schemas = await readSchemas(client, `${group}/${version}`, signal)
    for (const kind of kinds) {
      const schema = schemas.find((one) => isOfKind(one, { group, version, kind }))
      const fields = schema === undefined ? [] : missingFields(kind, schema)
      if (fields.length > 0) gaps.push(`${kind} lacks ${named(fields)}`)
    }
  }
  if (gaps.length === 0) return null
  return `the CustomResourceDefinitions are outdated, so the API server drops fields: ${gaps.join('; ')}; apply those of this version`
}

interface KindId {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface ServedSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly KindId[]
}

async function readSchemas(
  client: Pick<KubeClient, 'text'>,
  groupVersion: string,
  signal: AbortSignal | undefined,
): Promise<readonly ServedSchema[]> {
  try {
    const document = JSON.parse(await client.text(`/openapi/v3/apis/${groupVersion}`, { signal })) as {
      readonly components?: { readonly schemas?: Readonly<Record<string, ServedSchema>> }
    }
    return Object.values(document.components?.schemas ?? {})
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

function isOfKind(schema: ServedSchema, { group, version, kind }: KindId): boolean {
  return (
    schema['x-kubernetes-group-version-kind']?.some((one) => one.kind === kind && one.group === group && one.version === version) ?? false
  )
}

function named(fields: readonly string[]): string {
  const more = fields.length - NAMED_FIELDS
  return `${fields.slice(0, NAMED_FIELDS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
