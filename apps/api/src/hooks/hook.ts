import { type ActionType, actionTypes } from '@tranche/api-schema'
import { HOOK_LABEL, hookAnnotations, type KubeObject } from '@tranche/kube-types'

/** A door for one pipeline: for one Rollout, for a few actions, with a key of its own. */
export interface Hook {
  /** Name of the Secret. */
  readonly name: string
  readonly namespace: string
  readonly key: Uint8Array
  /** What it is for; a DaemonSet stands for its Rollout. */
  readonly target: { readonly kind: 'Rollout' | 'DaemonSet'; readonly name: string }
  /** What it may ask for; nothing where nothing is said. */
  readonly actions: ReadonlySet<ActionType>
}

/** A Secret, as far as a hook is made of it. */
export interface HookSecret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

/** A shorter key can be guessed, in bytes. */
const SHORTEST_KEY = 32

/** @returns the hook; or, as a text, why the Secret makes none */
export function readHook({ metadata, data }: HookSecret): Hook | string {
  const { name, namespace = '', labels = {}, annotations = {} } = metadata
  if (labels[HOOK_LABEL] !== 'true') return `it has no label ${HOOK_LABEL}: "true"`
  const key = Buffer.from(data?.['key'] ?? '', 'base64')
  if (key.byteLength < SHORTEST_KEY) return `its data.key has ${key.byteLength} bytes, and needs at least ${SHORTEST_KEY}`
  const rollout = annotations[hookAnnotations.rollout]
  const daemonSet = annotations[hookAnnotations.daemonSet]
  if ((rollout === undefined) === (daemonSet === undefined))
    return `it needs one of the annotations ${hookAnnotations.rollout} and ${hookAnnotations.daemonSet}`
  const target =
    rollout === undefined ? ({ kind: 'DaemonSet', name: daemonSet ?? '' } as const) : ({ kind: 'Rollout', name: rollout } as const)
  const words = (annotations[hookAnnotations.actions] ?? '').split(',').map((word) => word.trim())
  return { name, namespace, key, target, actions: new Set(actionTypes.filter((type) => words.includes(type))) }
}
