import type { Rollout, ObservedChange } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import { readSchemaGap } from '@tranche/cluster'
import { isAppError } from '@tranche/errors'
import {
  createKubeClient,
  createReflector,
  isNotFound,
  joinReflectors,
  type JsonPatchOperation,
  jsonPointer,
  type KubeClient,
  onServerClock,
  type Reflector,
  type ReflectorOptions,
  type ResourcePath,
  resourcePaths,
  testOp,
} from '@tranche/kube-client'
import {
  type DaemonSet,
  daemonSetAnnotations,
  fieldManagers,
  type KubeObject,
  parseKey,
  FORMER_OBSERVED_CHANGES_ANNOTATION,
  OBSERVED_CHANGES_ANNOTATION,
  parseTime,
} from '@tranche/kube-types'
import { createNamespaceLines } from '@tranche/queue'
import { type Logger, silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { observedChangesOf, withObservedChanges } from '@tranche/actions'
import { patchOrConflict } from '../ports/patch-or-conflict.ts'
import { type ObservedVersion, observeDaemonSet, observeRollout } from './observed-version.ts'

/** Options of the change observer. */
export interface ChangeObserverOptions {
  /** Its responses, including watches, must contain `metadata.managedFields`. */
  readonly exchange: Exchange
  /** Exchange for watches. @default exchange */
  readonly watchExchange?: Exchange
  readonly clock: Clock
  readonly log: Logger
  /** Namespaces to watch, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Called before each write; while false, observed changes are kept until another process can lead. */
  readonly mayWrite: () => boolean
  /** Seed of the reconnect jitter. @default 0 */
  readonly seed?: number
  /** Version in the user agent. @default 0.1.0 */
  readonly version?: string
}

/** A running change observer. */
export interface RunningChangeObserver {
  stop(): Promise<void>
}

/** Delay between observing and recording a change, in milliseconds; lets the controller's own write go first. */
const WRITE_AFTER_MS = 1_000
/** Time after which an unwritten change is dropped, in milliseconds. */
const KEPT_MS = 60_000

/**
 * Records changes that other programs make to a release, with the field managers from `managedFields`. The API server keeps a manager
 * only until another one writes the same field. Changes while no process watches are not observed.
 */
export function startChangeObserver(given: ChangeObserverOptions): RunningChangeObserver {
  const options = onServerClock(given)
  const { clock, seed = 0, version = '0.1.0', mayWrite } = options
  const log = options.log.child({ program: fieldManagers.controller })
  const { exchange, watchExchange = exchange } = options
  const client = createKubeClient({ exchange, watchExchange, clock, log, seed, userAgent: `${fieldManagers.controller}/${version}` })
  const ending = new AbortController()
  const writer = createWriter({ client, clock, log, mayWrite, signal: ending.signal })

  function look<O extends KubeObject>(resource: ResourcePath, kept: Kept<O>): void {
    const versions = reflectorFor({ ...options, client, seed }, resource, kept)
    versions.subscribe({ onChange: (_key, _previous, observed) => observed && writer.keep(observed) })
    versions
      .start(ending.signal)
      .catch((error: unknown) => log.error({ resource: resource.plural, err: error }, 'stopped observing actions by other programs'))
  }

  look<Rollout>(resourcePaths.rollouts, { transform: observeRollout })
  look<DaemonSet>(resourcePaths.daemonSets, { transform: observeDaemonSet, mark: daemonSetAnnotations.rollout })
  return {
    async stop() {
      ending.abort(new Error('the controller is stopping'))
      await writer.end()
    },
  }
}

/** Writes observed changes a moment after they were observed, and again until they are written or too old. */
interface ChangeWriter {
  keep(observed: ObservedVersion): void
  /** Waits for the write in progress. Its signal must have aborted. */
  end(): Promise<void>
}

interface WriterParts extends Writing, Pick<ChangeObserverOptions, 'clock' | 'mayWrite'> {}

function createWriter({ client, clock, log, mayWrite, signal }: WriterParts): ChangeWriter {
  const unwritten = new Map<string, readonly Unwritten[]>()
  /** Rollouts with changes that are not written, by namespace: many changes in one namespace delay those of others by one write. */
  const waiting = createNamespaceLines<null>()
  let timer: Timer | undefined
  let writing = Promise.resolve()

  function keep({ rollout, daemonSet, actions }: ObservedVersion): void {
    if (actions.length === 0) return
    const observedAt = new Date(clock.nowMs()).toISOString()
    const more = actions.map((action) => ({ action: { ...action, at: observedAt }, daemonSet }))
    unwritten.set(rollout, [...(unwritten.get(rollout) ?? []), ...more])
    waiting.add(rollout, null)
    timer ??= clock.setTimer(WRITE_AFTER_MS, write)
  }

  function write(): void {
    writing = writeAll().then(() => {
      timer = unwritten.size > 0 && !signal.aborted ? clock.setTimer(WRITE_AFTER_MS, write) : undefined
    })
  }

  async function writeAll(): Promise<void> {
    const again: string[] = []
    for (let next = waiting.takeNext(); next !== null; next = waiting.takeNext()) {
      await writeOne(next.key)
      waiting.leave(next.key)
      if (unwritten.has(next.key)) again.push(next.key)
    }
    for (const rollout of again) waiting.add(rollout, null)
  }

  async function writeOne(rollout: string): Promise<void> {
    const actions = unwritten.get(rollout) ?? []
    const isDone = actions.length === 0 || (mayWrite() && (await isWritten({ client, log, signal }, rollout, actions)))
    const left = isDone ? (unwritten.get(rollout) ?? []).slice(actions.length) : (unwritten.get(rollout) ?? []).filter(isFresh)
    if (left.length > 0) unwritten.set(rollout, left)
    else unwritten.delete(rollout)
  }

  const isFresh = ({ action }: Unwritten): boolean => clock.nowMs() - (parseTime(action.at) ?? 0) < KEPT_MS

  return {
    keep,
    async end() {
      timer?.cancel()
      await writing
    },
  }
}

interface Unwritten {
  readonly action: ObservedChange
  /** @see ObservedVersion.daemonSet */
  readonly daemonSet: string | undefined
}

interface Watching extends Pick<ChangeObserverOptions, 'clock' | 'namespaces'> {
  readonly client: KubeClient
  readonly seed: number
}

type Kept<O extends KubeObject> = Pick<ReflectorOptions<ObservedVersion, O>, 'transform' | 'mark'>

/** Watches without logging: the controller's own watches of the same objects log the same errors. */
function reflectorFor<O extends KubeObject>(
  { client, clock, seed, namespaces }: Watching,
  resource: ResourcePath,
  kept: Kept<O>,
): Reflector<ObservedVersion> {
  const watch = (scope: { readonly namespace?: string }): Reflector<ObservedVersion> =>
    createReflector<ObservedVersion, O>({ client, clock, seed, log: silentLogger, resource, scope, ...kept })
  if (namespaces === undefined) return watch({})
  return joinReflectors(new Map(namespaces.map((namespace) => [namespace, watch({ namespace })])))
}

interface Writing {
  readonly client: KubeClient
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Records the changes that are not recorded yet. Ignores changes of a DaemonSet that the Rollout does not name.
 *
 * @returns false if the write failed and has to be repeated
 */
async function isWritten({ client, log, signal }: Writing, key: string, actions: readonly Unwritten[]): Promise<boolean> {
  try {
    const rollout = await client.get<Rollout>(resourcePaths.rollouts, parseKey(key), { signal })
    const known = new Set(observedChangesOf(rollout).map(({ id }) => id))
    const { name } = rollout.spec.workloadRef
    const its = actions.filter(({ daemonSet = name }) => daemonSet === name)
    const missing = its.map(({ action }) => action).filter(({ id }) => !known.has(id))
    if (missing.length === 0) return true
    if (mayBePruned(rollout) && (await readSchemaGap(client, signal, ['Rollout'])) !== null) return false
    await patchOrConflict(client, resourcePaths.rollouts, rollout, observedChangesPatch(rollout, missing), { signal })
    for (const { type, manager, step, reason } of missing)
      log.info({ rollout: key, action: type, actor: manager, step, why: reason }, 'recorded action by another program')
    return true
  } catch (error) {
    if (isNotFound(error) || signal.aborted) return true
    // Conflicts with other writers are normal and retried soon.
    const level = isAppError(error) && error.code === 'WRITE_CONFLICT' ? 'debug' : 'warn'
    log[level]({ rollout: key, err: error }, 'could not record actions by other programs')
    return false
  }
}

/** Whether definitions may hide a part of the status that a write would lose. {@link patchOrConflict} can test only what was read. */
function mayBePruned({ status }: Rollout): boolean {
  return status !== undefined && status.stableDigest === undefined
}

/** Tests only the annotation that it replaces (the first time: the resourceVersion), so that other writes do not conflict. */
function observedChangesPatch({ metadata }: Rollout, missing: readonly ObservedChange[]): Parameters<typeof patchOrConflict>[3] {
  const { uid, annotations, resourceVersion } = metadata
  const path = jsonPointer('metadata', 'annotations', OBSERVED_CHANGES_ANNOTATION)
  const before = annotations?.[OBSERVED_CHANGES_ANNOTATION]
  const value = withObservedChanges({ metadata }, missing)
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    before === undefined ? { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion } : { op: 'test', path, value: before },
    ...(annotations === undefined
      ? [{ op: 'add', path: '/metadata/annotations', value: { [OBSERVED_CHANGES_ANNOTATION]: value } } as const]
      : [{ op: 'add', path, value } as const]),
    ...withoutFormer(annotations?.[FORMER_OBSERVED_CHANGES_ANNOTATION]),
  ]
}

/** Removes the annotation of the previous version, whose changes are in the value; a controller of that version may write it meanwhile. */
function withoutFormer(text: string | undefined): readonly JsonPatchOperation[] {
  const path = jsonPointer('metadata', 'annotations', FORMER_OBSERVED_CHANGES_ANNOTATION)
  return text === undefined ? [] : [testOp(path, text), { op: 'remove', path }]
}
