import type { Clock } from '@tranche/clock'
import {
  createReflector,
  isAlreadyExists,
  isConflict,
  isNotFound,
  joinReflectors,
  type KubeClient,
  type Reflector,
  resourcePaths,
} from '@tranche/kube-client'
import { keyText, type ObjectKey, type Pod, PRE_PULL_LABEL } from '@tranche/kube-types'
import { type HelperManifest, type HelperPod, toHelperPod } from '@tranche/pre-pull'
import type { Logger } from '@tranche/telemetry'
import { createOwnWrites } from './own-writes.ts'
import { rejectionText } from './rejection-text.ts'

/** Settings of {@link watchHelperPods}. */
export interface HelperPodsOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Seed for the jitter of reconnects. @default 0 */
  readonly seed?: number
  /** Namespaces to watch, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
}

/** Result of creating a helper pod. */
export type HelperCreation =
  | { readonly kind: 'created' }
  /** A pod of its name exists already: in most cases that of another executor. */
  | { readonly kind: 'exists' }
  /** The API server does not accept it, by a quota, a policy or missing rights. */
  | { readonly kind: 'rejected'; readonly message: string }

/** Helper pods that pull images, as one process sees them: one watch for all, and its own writes at once. */
export interface HelperPods {
  /** Starts the watch; `failed` receives the error that ends it before `signal` does. */
  start(signal: AbortSignal, failed: (error: unknown) => void): void
  /** Whether the first list has arrived. */
  isSynced(): boolean
  /** @returns all helper pods, or those that a BatchRelease owns, by its uid */
  list(releaseUid?: string): readonly HelperPod[]
  /** One request. @throws if there is no clear response */
  create(manifest: HelperManifest, signal: AbortSignal): Promise<HelperCreation>
  /** One request, guarded by the uid. @throws if it is not sure to be gone */
  delete(pod: HelperPod, signal: AbortSignal): Promise<void>
  /**
   * Whether the watch has shown the end of a pod of this name in the last five seconds. Its node may have been updated: the watch of the record
   * may be behind.
   */
  hasJustGone(key: ObjectKey): boolean
  /** Calls back for each change of the state of a pod. */
  subscribe(onChange: (pod: HelperPod) => void): void
}

/** Time for which {@link HelperPods.hasJustGone} remembers a pod, in milliseconds. */
const JUST_GONE_MS = 5_000

/** Creates the view of helper pods; nothing is watched before it is started. */
export function watchHelperPods(options: HelperPodsOptions): HelperPods {
  const { client, clock } = options
  const reflector = reflectorOf(options)
  /** By key. */
  const created = createOwnWrites<HelperPod>(reflector, ({ namespace }) => namespace)
  /** Uids of pods that this process deleted and its watch may still show. */
  const deleted = new Set<string>()
  reflector.subscribe({
    onChange(_key, previous, current) {
      if (previous !== undefined && current?.uid !== previous.uid) deleted.delete(previous.uid)
    },
  })

  return {
    start: (signal, failed) => void reflector.start(signal).catch(failed),
    isSynced: () => reflector.synced,
    hasJustGone: followGone(reflector, clock),
    list(releaseUid) {
      const shown = releaseUid === undefined ? reflector.store.list() : reflector.store.byIndex('release', releaseUid)
      const own = [...created.unseen().values()].filter(({ release }) => releaseUid === undefined || release.uid === releaseUid)
      return [...shown, ...own].filter(({ uid }) => !deleted.has(uid))
    },
    async create(manifest, signal) {
      try {
        const pod = toHelperPod((await client.create(resourcePaths.pods, manifest, { signal })) as Pod, undefined)
        if (pod !== null) created.learn(keyText(pod), pod)
        return { kind: 'created' }
      } catch (error) {
        if (isAlreadyExists(error)) return { kind: 'exists' }
        return { kind: 'rejected', message: rejectionText(error) }
      }
    },
    async delete({ namespace, name, uid }, signal) {
      try {
        await client.delete(resourcePaths.pods, { namespace, name }, { preconditions: { uid }, signal })
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      const key = { namespace, name }
      // A watch that has shown the deletion already never shows it again.
      if (reflector.store.get(key)?.uid === uid || created.unseen().get(keyText(key))?.uid === uid) deleted.add(uid)
      created.forget(keyText(key))
    },
    subscribe(onChange) {
      reflector.subscribe({
        onChange(_key, previous, current) {
          const pod = current ?? previous
          if (pod !== undefined && previous?.state.kind !== current?.state.kind) onChange(pod)
        },
      })
    },
  }
}

/** @returns {@link HelperPods.hasJustGone} */
function followGone(reflector: Reflector<HelperPod>, clock: Clock): HelperPods['hasJustGone'] {
  /** Monotonic times, by key, the oldest first. */
  const gone = new Map<string, number>()
  const isRecent = (atMs: number): boolean => clock.monotonicMs() - atMs < JUST_GONE_MS
  reflector.subscribe({
    onChange(key, _previous, current) {
      if (current !== undefined) return
      for (const [known, atMs] of gone) if (!isRecent(atMs)) gone.delete(known)
      gone.delete(keyText(key))
      gone.set(keyText(key), clock.monotonicMs())
    },
  })
  return (key) => isRecent(gone.get(keyText(key)) ?? Number.NEGATIVE_INFINITY)
}

function reflectorOf({ client, clock, log, seed = 0, namespaces }: HelperPodsOptions): Reflector<HelperPod> {
  const common = {
    ...{ client, clock, seed, resource: resourcePaths.pods, transform: toHelperPod },
    indexers: { release: ({ release }: HelperPod) => release.uid },
  }
  if (namespaces === undefined) return createReflector<HelperPod, Pod>({ ...common, log, scope: { labelSelector: PRE_PULL_LABEL } })
  const each = namespaces.map((namespace) => {
    const scope = { namespace, labelSelector: PRE_PULL_LABEL }
    return [namespace, createReflector<HelperPod, Pod>({ ...common, log: log.child({ namespace }), scope })] as const
  })
  return joinReflectors(new Map(each))
}
