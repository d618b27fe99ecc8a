import { type ActionType, actionTypes } from '@tranche/api-schema'
import { HOOK_LABEL, hookAnnotations, type KubeObject } from '@tranche/kube-types'

/** Permission of one pipeline to send certain actions to one Rollout, with its own HMAC key. */
export interface Hook {
  /** Name of the Secret. */
  readonly name: string
  readonly namespace: string
  readonly key: Uint8Array
  /** Object that it controls; a DaemonSet stands for its Rollout. */
  readonly target: { readonly kind: 'Rollout' | 'DaemonSet'; readonly name: string }
  /** Allowed actions; empty without the annotation. */
  readonly actions: ReadonlySet<ActionType>
}

/** The fields of a Secret that define a hook. */
export interface HookSecret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** Minimum length of a key, in bytes; a shorter one could be guessed. */
const SHORTEST_KEY = 32

/** @returns the hook, or the reason as text why the Secret does not define one */
export function readHook({ metadata, data }: HookSecret): Hook | string {
  const { name, namespace = '', labels = {}, annotations = {} } = metadata
  if (labels[HOOK_LABEL] !== 'true') return `it has no label ${HOOK_LABEL}: "true"`
  const key = Buffer.from(data?.['key'] ?? '', 'base64')
  if (key.byteLength < SHORTEST_KEY) return `its data.key has ${key.byteLength} bytes; it needs at least ${SHORTEST_KEY}`
  const rollout = annotations[hookAnnotations.rollout]
  const daemonSet = annotations[hookAnnotations.daemonSet]
  if ((rollout === undefined) === (daemonSet === undefined))
    return `it needs exactly one of the annotations ${hookAnnotations.rollout} and ${hookAnnotations.daemonSet}`
  const target =
    rollout === undefined ? ({ kind: 'DaemonSet', name: daemonSet ?? '' } as const) : ({ kind: 'Rollout', name: rollout } as const)
  const words = (annotations[hookAnnotations.actions] ?? '').split(',').map((word) => word.trim())
  return { name, namespace, key, target, actions: new Set(actionTypes.filter((type) => words.includes(type))) }
}
