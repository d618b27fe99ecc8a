import { type DefinedKind, missingFields } from '@tranche/api-schema'
import { isNotFound, type KubeClient } from '@tranche/kube-client'
import { ROLLOUTS_API_VERSION } from '@tranche/kube-types'

/** How many missing fields are named; the others are counted. */
const NAMED_FIELDS = 3

const kinds: readonly DefinedKind[] = ['Rollout', 'BatchRelease']

/**
 * Asks the API server for the schemas that it serves, and says which of our fields it would drop. Everybody who may log in
 * may read them.
 *
 * @returns what is missing and what to do, as a sentence without full stop; null where every field is kept, and where the
 *   schemas are not published yet
 * @throws {AppError} where the API server does not answer
 */
export async function readSchemaGap(client: KubeClient, signal: AbortSignal): Promise<string | null> {
  const schemas = await readSchemas(client, signal)
  if (schemas === null) return null
  const gaps = kinds.flatMap((kind) => {
    const served = schemas.find((schema) => isOfKind(schema, kind))
    const fields = served === undefined ? [] : missingFields(kind, served)
    return fields.length === 0 ? [] : [`${kind} lacks ${named(fields)}`]
  })
  if (gaps.length === 0) return null
  return `the CustomResourceDefinitions are older ones, by which the API server drops what Tranche writes: ${gaps.join('; ')}; apply those of this version`
}

interface ServedSchema {
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
}

async function readSchemas(client: KubeClient, signal: AbortSignal): Promise<readonly ServedSchema[] | null> {
  try {
    const document = JSON.parse(await client.text(`/openapi/v3/apis/${ROLLOUTS_API_VERSION}`, { signal })) as {
      readonly components?: { readonly schemas?: Readonly<Record<string, ServedSchema>> }
    }
    return Object.values(document.components?.schemas ?? {})
  } catch (error) {
    if (isNotFound(error)) return null
    throw error
  }
}

function isOfKind(schema: ServedSchema, kind: DefinedKind): boolean {
  return (
    schema['x-kubernetes-group-version-kind']?.some((one) => one.kind === kind && `${one.group}/${one.version}` === ROLLOUTS_API_VERSION) ??
    false
  )
}

function named(fields: readonly string[]): string {
  const more = fields.length - NAMED_FIELDS
  return `${fields.slice(0, NAMED_FIELDS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
