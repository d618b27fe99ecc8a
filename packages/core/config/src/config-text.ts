import type { ConfigReference } from './config-references.ts'
import type { UnversionedConfig } from './judge-config.ts'

/** Maximum number of objects that a text names; the others are counted. */
const MOST_NAMED = 10

/** Fix that makes config part of the version. */
export const CONFIG_FIX = 'name each by the hash of its content, as kustomize does, or make each immutable under a new name'

/**
 * @returns what a change of the config does, without a full stop: `a change of ConfigMap agent-config reaches running pods of every
 *   revision, outside the batches of a release`. Bounded: names at most ten objects.
 */
export function configText({ references, hasChecksum }: UnversionedConfig): string {
  const parts = [
    part(references, 'running', 'reaches running pods'),
    part(references, 'restart', 'reaches containers as they restart'),
  ].filter((text) => text !== '')
  const text = `${parts.join('; ')}, on every node and outside the batches of a release`
  return hasChecksum ? `${text}; the checksum annotation only makes the change a release as well` : text
}

function part(references: readonly ConfigReference[], reach: ConfigReference['reach'], does: string): string {
  const alike = references.filter((one) => one.reach === reach)
  return alike.length === 0 ? '' : `a change of ${configNames(alike)} ${does}`
}

/** @returns the objects by name, such as `ConfigMap agent-config, Secret agent-token and 3 more`; at most ten names */
export function configNames(references: readonly Pick<ConfigReference, 'kind' | 'name'>[]): string {
  const named = references.slice(0, MOST_NAMED).map(({ kind, name }) => `${kind} ${name}`)
  const more = references.length - named.length
  return `${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}
