import type { Clock } from '@tranche/clock'
import { type FleetView, keptPerBlock } from '@tranche/fleet'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, type KubeObject, clipText } from '@tranche/kube-types'

/** Finds out why the DaemonSet controller cannot create pods, from its events. */
export interface CreateRefusals {
  /** @returns error of the last attempt, if a desired node has had no pod for 5 s; undefined if unknown */
  of(daemonSet: DaemonSet, fleet: FleetView, signal: AbortSignal): Promise<string | undefined>
}

/** Time without a pod after which a node counts as missing one, in milliseconds; longer than the gap between two pods. */
const MISSING_MS = 5_000
/** Minimum interval between reads of events, in milliseconds. */
const READ_AGAIN_MS = 30_000

/** Prefix that Kubernetes adds to aggregated events. */
const COMBINED = /^\(combined from similar events\): /

type Identity = Pick<DaemonSet['metadata'], 'namespace' | 'name' | 'uid'>

interface Known {
  readonly daemonSet: Identity
  /** Monotonic time at which each node was first seen without a pod, in milliseconds. */
  readonly since: Map<string, number>
  readMs: number
  text: string | undefined
}

interface FailedCreate extends KubeObject {
  readonly message?: string
  readonly lastTimestamp?: string
}

/** Dependencies of {@link createCreateRefusals}. */
export interface CreateRefusalsParts {
  readonly client: KubeClient
  readonly clock: Clock
  /** Whether the DaemonSet with this name still has this uid. */
  readonly exists: (daemonSet: Identity) => boolean
}

/** Reads events only while a node has no pod. Without the right to list events, the reason is unknown. */
export function createCreateRefusals({ client, clock, exists }: CreateRefusalsParts): CreateRefusals {
  const known = new Map<string, Known>()
  return {
    async of({ metadata: { uid, namespace = '', name } }, fleet, signal) {
      const missing = missingPerBlock(fleet, null).flat()
      if (missing.length === 0) {
        known.delete(uid)
        return undefined
      }
      const nowMs = clock.monotonicMs()
      const before = known.get(uid)
      if (before === undefined) forgetDeleted(known, exists)
      const since = new Map(missing.map((node) => [node, before?.since.get(node) ?? nowMs]))
      const entry: Known = {
        daemonSet: { uid, namespace, name },
        since,
        readMs: before?.readMs ?? Number.NEGATIVE_INFINITY,
        text: before?.text,
      }
      known.set(uid, entry)
      const isMissing = [...since.values()].some((sinceMs) => nowMs - sinceMs >= MISSING_MS)
      if (!isMissing || nowMs - entry.readMs < READ_AGAIN_MS) return isMissing ? entry.text : undefined
      entry.readMs = nowMs
      entry.text = await lastRefusal(client, { uid, namespace }, signal)
      return entry.text
    },
  }
}

/** A deleted DaemonSet has no later pass that could forget it. */
function forgetDeleted(known: Map<string, Known>, exists: CreateRefusalsParts['exists']): void {
  for (const [uid, { daemonSet }] of known) if (!exists(daemonSet)) known.delete(uid)
}

async function lastRefusal(
  client: KubeClient,
  { uid, namespace }: { readonly uid: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const fieldSelector = `involvedObject.uid=${uid},reason=FailedCreate`
  let newest: Refusal = { at: '', message: undefined }
  // Many accounts may write events of any number and size: keep only the newest, with a bounded message.
  const transform = (event: KubeObject): null => {
    const { lastTimestamp = '', message = '' } = event as FailedCreate
    if (newest.message === undefined || lastTimestamp > newest.at) newest = { at: lastTimestamp, message: cut(message) }
    return null
  }
  try {
    await client.list(resourcePaths.events, { namespace, fieldSelector, signal, transform })
    return newest.message
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

interface Refusal {
  readonly at: string
  readonly message: string | undefined
}

/** Maximum length of the message, in characters: the limit of events.k8s.io. core/v1 events can be longer. */
const LONGEST_MESSAGE = 1_024

/** Copies the cut text, so that it does not retain the long one in memory. */
function cut(message: string): string {
  const text = message.replace(COMBINED, '')
  return clipText(text, LONGEST_MESSAGE)
}

const missingPerBlock = keptPerBlock<null, readonly string[]>({
  count: (block) => block.filter(({ desired, pods }) => desired && pods.length === 0).map(({ name }) => name),
  holds: () => true,
})
