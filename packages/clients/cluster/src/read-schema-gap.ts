import { type DefinedKind, missingFields } from '@tranche/api-schema'
import { isNotFound, type KubeClient } from '@tranche/kube-client'

const groups: readonly { readonly group: string; readonly version: string; readonly kinds: readonly DefinedKind[] }[] = [
  { group: 'rollouts.kruise.io', version: 'v1beta1', kinds: ['Rollout', 'BatchRelease'] },
  { group: 'tranche.dev', version: 'v1alpha1', kinds: ['ReleasePolicy'] },
]

/** How many missing fields are named; the others are counted. */
const NAMED_FIELDS = 3

/**
 * Asks the API server for the schemas that it serves, and says which of our fields it would drop. Everybody who may log in
 * may read them.
 *
 * A definition that is not there at all is not missed here: who names an object of its kind is held for that.
 *
 * @param asked kinds to look at; undefined: all
 * @returns what is missing and what to do, as a sentence without full stop; null where every field is kept, and where the
 *   schemas are not published yet
 * @throws {AppError} where the API server does not answer
 */
export async function readSchemaGap(
  client: KubeClient,
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
  return `the CustomResourceDefinitions are older ones, by which the API server drops what is written: ${gaps.join('; ')}; apply those of this version`
}

interface KindId {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface ServedSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly KindId[]
}

async function readSchemas(client: KubeClient, groupVersion: string, signal: AbortSignal | undefined): Promise<readonly ServedSchema[]> {
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
