import { PINNED_CONFIG_MAX, type PinnedConfig } from '@tranche/api-schema'
import { kindOfPin, pinsOf } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'

/** ConfigMaps and Secrets of the present template that are pinned, with the copies that its pods read, also before any release of them. */
export function pinnedConfigOf(daemonSet: DaemonSet | undefined): readonly PinnedConfig[] {
  return [...pinsOf(daemonSet?.spec.template)]
    .slice(0, PINNED_CONFIG_MAX)
    .map(([key, copy]) => ({ kind: kindOfPin(key), name: key.slice(key.indexOf('/') + 1), copy }))
}

/** Most objects that a text names. */
const MOST_NAMED = 10

/** @returns `ConfigMap agent as agent-9f86d081884c7d65`, of each; undefined without any */
export function pinnedConfigText(pinned: readonly PinnedConfig[]): string | undefined {
  if (pinned.length === 0) return undefined
  const more = pinned.length > MOST_NAMED ? ` and ${pinned.length - MOST_NAMED} more` : ''
  return `${pinned
    .slice(0, MOST_NAMED)
    .map(({ kind, name, copy }) => `${kind} ${name} as ${copy}`)
    .join(', ')}${more}`
}
