import type { BatchRelease, FlightRecord } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { createReleasePass, type ReleasePort, type ReleaseReading } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { type PatchOperation, recordPatch } from '@tranche/fence'
import type { DaemonSet, Lease, ObjectKey } from '@tranche/kube-types'
import {
  controlInfo,
  isInCharge,
  groupHolderOf,
  groupLeaseName,
  type GroupMember,
  groupNameOf,
  type GroupView,
  holderText,
  LEAVING_ANNOTATION,
} from '@tranche/planner'
import type { Reconcile } from '@tranche/reconcile'
import { silentLogger } from '@tranche/telemetry'
import { applyPatch } from '@tranche/testing'
import { aFleetPod, aReading, recordingPort } from './recording-port.ts'

/** Names of the releases. */
export const releaseNames = ['a', 'b', 'c'] as const
const NAMESPACE = 'demo'

/** A release, its DaemonSet, and which of its permits executors have used. */
interface Stored {
  release: BatchRelease
  daemonSet: DaemonSet
  /** uids of pods that are gone, and whose nodes have no available pod yet. */
  readonly gone: Set<string>
  /** uids of pods that were touched: no delete by their permit is accepted any more. */
  readonly touched: Set<string>
  /** Whether the record has been opened since the release joined its group. */
  hasOpened: boolean
}

/**
 * Several releases of one group and two controllers that both act, like a leader and a frozen one. Each call of a port waits until the test
 * lets it continue, before and after it takes effect. Reads by the watch may be old.
 */
export class GroupWorld {
  readonly clock = new FakeClock()
  readonly breaches: string[] = []
  readonly stored = new Map<string, Stored>()
  readonly leases = new Map<string, Lease>()
  /** How often a record was opened. */
  opened = 0
  readonly #pending: { readonly of: number; readonly go: () => void }[] = []
  readonly #busy = new Set<string>()
  readonly #history: { readonly stored: ReadonlyMap<string, Stored>; readonly leases: ReadonlyMap<string, Lease> }[] = []
  readonly #passes: readonly Reconcile[]
  #version = 100

  constructor() {
    for (const name of releaseNames) this.create(name)
    this.#passes = [0, 1].map((at) =>
      createReleasePass({ cluster: this.#portOf(at), clock: this.clock, events: { record: () => {} } as never }),
    )
  }

  get pending(): number {
    return this.#pending.length
  }

  pendingOf(controller: number): number {
    return this.#pending.filter(({ of }) => of === controller).length
  }

  /** Starts a pass of a controller, unless it already runs one on that release. @param lag number of changes that its watch lacks */
  start(controller: number, name: string, lag: number): void {
    const id = `${controller}/${name}`
    if (this.#busy.has(id)) return
    this.#busy.add(id)
    this.#lag = lag
    this.#passes[controller]!({ namespace: NAMESPACE, name }, new AbortController().signal, silentLogger)
      .catch((error: unknown) => {
        if (!(error instanceof AppError)) this.breaches.push(String(error))
      })
      .finally(() => this.#busy.delete(id))
  }

  #lag = 0

  /** Lets the pending call at this place continue, −1: the latest; calls of a frozen controller stay. */
  async proceed(pick: number, frozen: number | null): Promise<void> {
    const able = this.#pending.filter(({ of }) => of !== frozen)
    const chosen = able.at(pick % Math.max(1, able.length))
    if (chosen !== undefined) {
      this.#pending.splice(this.#pending.indexOf(chosen), 1)
      chosen.go()
    }
    const [pending, busy] = [this.#pending.length, this.#busy.size]
    for (let tick = 0; tick < 16 && this.#pending.length === pending && this.#busy.size === busy; tick++) await Promise.resolve()
  }

  create(name: string): void {
    if (this.stored.has(name)) return
    const { release, daemonSet } = aReading({}, { downtime: { group: 'agents' } })
    const uid = `${name}-${++this.#version}`
    const known = this.stored.get(name)
    const annotations = { ...daemonSet!.metadata.annotations, 'rollouts.kruise.io/in-progressing': `{"rolloutName":"${name}"}` }
    const ownerReferences = [{ ...release.metadata.ownerReferences![0]!, name }]
    this.stored.set(name, {
      release: {
        ...release,
        metadata: { ...release.metadata, name, uid, ownerReferences },
        spec: { ...release.spec, workloadRef: { ...release.spec.workloadRef!, name } },
        status: {},
      },
      daemonSet: {
        ...daemonSet!,
        metadata: {
          ...daemonSet!.metadata,
          name,
          annotations: {
            ...annotations,
            'tranche.dev/rollout': name,
            'batchrelease.rollouts.kruise.io/control-info': controlInfo({ name, uid }),
          },
        },
      },
      ...{ gone: known?.gone ?? new Set<string>(), touched: new Set<string>(), hasOpened: false },
    })
    // The first record is written stopped; a release in charge without one would be restored.
    const made = this.stored.get(name)!
    const flight = { ...release.status!.flight!, state: 'stopped', permits: [] } as FlightRecord
    const observed = {
      observedGeneration: 1,
      observedRelease: 'r1',
      phase: 'Progressing',
      groupLease: groupLeaseName('agents', NAMESPACE, false),
    } as const
    made.release = { ...made.release, status: { ...observed, flight } }
    this.#remember()
  }

  /** A user changes the release. */
  change(name: string, change: (release: BatchRelease) => BatchRelease): void {
    const known = this.stored.get(name)
    if (known === undefined) return
    const before = known.release
    const changed = change(before)
    const generation = (before.metadata.generation ?? 0) + 1
    known.release = { ...changed, metadata: { ...changed.metadata, generation, resourceVersion: String(++this.#version) } }
    if (groupNameOf(before) !== groupNameOf(known.release)) known.hasOpened = false
    this.#remember()
  }

  /** An executor appends a permit, or uses one; a node gets an available pod, and the permit settles. */
  execute(name: string, what: 'append' | 'delete' | 'settle', node: string): void {
    const known = this.stored.get(name)
    const flight = known?.release.status?.flight
    if (known === undefined || flight === undefined) return
    if (what === 'append' && flight.state === 'open' && flight.permits.length < 2) {
      const permit = { node, podUid: `pod-${node}-${++this.#version}`, podResourceVersion: '9' }
      this.#store(known, { ...flight, seq: flight.seq + 1, permits: [...flight.permits, permit] })
    }
    for (const { podUid } of flight.permits) {
      // The DELETE of a frozen executor may arrive at any time; only a touch stops it.
      if (what === 'delete' && !known.touched.has(podUid)) known.gone.add(podUid)
    }
    const settled = flight.permits.find(({ podUid }) => known.gone.has(podUid))
    if (what === 'settle' && settled !== undefined) {
      known.gone.delete(settled.podUid)
      this.#store(known, { ...flight, seq: flight.seq + 1, permits: flight.permits.filter((permit) => permit !== settled) })
    }
  }

  #store(known: Stored, flight: FlightRecord): void {
    const { release } = known
    known.release = {
      ...release,
      metadata: { ...release.metadata, resourceVersion: String(++this.#version) },
      status: { ...release.status, flight },
    }
    this.#remember()
  }

  #remember(): void {
    const stored = new Map([...this.stored].map(([name, one]) => [name, { ...one }] as const))
    this.#history.push({ stored, leases: new Map(this.leases) })
    if (this.#history.length > 8) this.#history.shift()
  }

  /** G13, from the records and the pods: no Lease is looked at. */
  #judge(name: string, before: FlightRecord | undefined, after: FlightRecord): void {
    const own = this.stored.get(name)!
    if (before?.state === 'open' || after.state !== 'open') return
    this.opened++
    own.hasOpened = true
    for (const [other, { release, gone, hasOpened }] of this.stored) {
      if (other === name || !hasOpened || groupNameOf(release) !== groupNameOf(own.release) || groupNameOf(own.release) === undefined)
        continue
      const isDeleted = release.metadata.deletionTimestamp !== undefined
      if (release.status?.flight?.state === 'open') this.breaches.push(`${name} opens while ${other} is open`)
      else if (gone.size > 0 && !isDeleted) this.breaches.push(`${name} opens while ${other} is in flight`)
    }
  }

  #portOf(controller: number): ReleasePort {
    const gate = (): Promise<void> => new Promise((go) => this.#pending.push({ of: controller, go }))
    const call = async <T>(act: () => T): Promise<T> => {
      await gate()
      const answer = act()
      await gate()
      return answer
    }
    const base = recordingPort()
    return {
      ...base,
      read: (key) => {
        const lag = this.#lag
        return call(() => this.#readingOf(key, this.#history.at(-1 - lag) ?? this))
      },
      readLive: async ({ name }, _signal, known) => {
        // The record first, then the Lease.
        const release = known?.release ?? (await call(() => this.stored.get(name)?.release))
        return call(() => {
          const reading = release === undefined ? null : this.#readingOf({ namespace: NAMESPACE, name }, this, release)
          return reading === null ? null : { ...reading, daemonSet: known?.daemonSet ?? reading.daemonSet, stopAsked: false }
        })
      },
      setFinalizer: (release, present) => call(() => this.#setFinalizer(release, present)),
      patchDaemonSet: (daemonSet, patch) => call(() => this.#patchDaemonSet(daemonSet, patch)),
      listPods: () => call(() => []),
      findPods: (_namespace, uids) =>
        call(() => {
          const gone = new Set([...this.stored.values()].flatMap((one) => [...one.gone]))
          return [...uids].filter((uid) => !gone.has(uid)).map((uid) => aFleetPod('a', { uid, name: uid }))
        }),
      touchPod: ({ uid }) =>
        call(() => {
          const home = [...this.stored.values()].find(({ release }) => release.status?.flight?.permits.some(({ podUid }) => podUid === uid))
          if (home?.gone.has(uid) === true) return { kind: 'executed' } as const
          home?.touched.add(uid)
          return { kind: 'standing', resourceVersion: '99' } as const
        }),
      writeRecord: (release, record, _signal, exact) => call(() => this.#writeRecord(release, record, exact)),
      patchStatus: (release, patch) => call(() => this.#patchStatus(release, patch)),
      labelPod: () => call(() => true),
      readLease: (name) => call(() => this.leases.get(name) ?? null),
      takeLease: (name, lease, release) => call(() => this.#take(name, lease, release)),
      markLeaving: (lease) =>
        call(() => this.#putLease(lease, { ...lease, metadata: { ...lease.metadata, annotations: { [LEAVING_ANNOTATION]: 'true' } } })),
      deleteLease: (lease) => call(() => this.#putLease(lease, null)),
      readHolder: ({ name, uid }) =>
        call(() => {
          const release = this.stored.get(name)?.release
          return release?.metadata.uid === uid ? memberOf(release) : undefined
        }),
    }
  }

  #readingOf(
    { name }: ObjectKey,
    { stored, leases }: { readonly stored: ReadonlyMap<string, Stored>; readonly leases: ReadonlyMap<string, Lease> },
    live?: BatchRelease,
  ): ReleaseReading | null {
    const known = stored.get(name)
    const release = live ?? known?.release
    if (release === undefined || known === undefined) return null
    const { wanted } = memberOf(release)
    const lock = release.status?.groupLease ?? wanted
    const lease = leases.get(lock ?? '') ?? null
    const others = [...stored.values()].filter((one) => one.release.metadata.uid !== release.metadata.uid)
    const holder = [...stored.values()].find((one) => one.release.metadata.uid === groupHolderOf(lease)?.uid)?.release
    const members = others.flatMap((one) => (wanted !== null && memberOf(one.release).wanted === wanted ? [otherMember(one)] : []))
    const group = lock === null ? undefined : { wanted, name: lock, refused: null, lease, members, holder: holder && memberOf(holder) }
    return { ...aReading(), release, daemonSet: known.daemonSet, group }
  }

  #setFinalizer({ metadata }: BatchRelease, present: boolean): void {
    const known = this.stored.get(metadata.name)
    if (present || known?.release.metadata.uid !== metadata.uid) return
    this.stored.delete(metadata.name)
    this.#remember()
  }

  #patchDaemonSet({ metadata: { name } }: DaemonSet, patch: readonly PatchOperation[]): DaemonSet {
    const known = this.stored.get(name)
    const patched = known === undefined ? null : applyPatch(known.daemonSet, patch)
    if (known === undefined || patched === null) throw conflict()
    known.daemonSet = { ...patched, metadata: { ...patched.metadata, resourceVersion: String(++this.#version) } }
    this.#remember()
    return known.daemonSet
  }

  #writeRecord(read: BatchRelease, record: FlightRecord, exact?: readonly PatchOperation[]): boolean {
    const known = this.stored.get(read.metadata.name)
    const isAsRead = exact === undefined || known?.release.metadata.resourceVersion === read.metadata.resourceVersion
    const patch = [...recordPatch(read, record), ...(exact ?? [])]
    const patched = known === undefined || !isAsRead ? null : applyPatch(known.release, patch)
    if (known === undefined || patched === null) return false
    // An opening that was decided before its release joined the group is one of the time before: the next pass closes it.
    if (groupNameOf(read) === groupNameOf(known.release)) this.#judge(read.metadata.name, known.release.status?.flight, record)
    known.release = { ...patched, metadata: { ...patched.metadata, resourceVersion: String(++this.#version) } }
    this.#remember()
    return true
  }

  #patchStatus(read: BatchRelease, patch: readonly PatchOperation[]): void {
    const known = this.stored.get(read.metadata.name)
    const patched = known === undefined ? null : applyPatch(known.release, patch)
    if (known === undefined || patched === null) throw conflict()
    known.release = { ...patched, metadata: { ...patched.metadata, resourceVersion: String(++this.#version) } }
    this.#remember()
  }

  #take(name: string, lease: Lease | null, release: BatchRelease): void {
    const taken = {
      metadata: { namespace: 'tranche', name, uid: lease?.metadata.uid ?? `lease-${++this.#version}` },
      spec: { holderIdentity: holderText(release) },
    }
    if (lease === null && this.leases.has(name)) throw conflict()
    if (lease !== null) return this.#putLease(lease, taken as Lease)
    this.leases.set(name, { ...taken, metadata: { ...taken.metadata, resourceVersion: String(++this.#version) } } as Lease)
    this.#remember()
  }

  #putLease(read: Lease, next: Lease | null): void {
    const { name, uid, resourceVersion } = read.metadata
    const known = this.leases.get(name)
    if (known?.metadata.uid !== uid || known.metadata.resourceVersion !== resourceVersion) throw conflict()
    if (next === null) this.leases.delete(name)
    else this.leases.set(name, { ...next, metadata: { ...next.metadata, resourceVersion: String(++this.#version) } })
    this.#remember()
  }
}

function otherMember({ release, daemonSet }: Stored): GroupView['members'][number] {
  return { release, isInCharge: isInCharge({ release }, daemonSet) }
}

function memberOf(release: BatchRelease): GroupMember {
  const group = groupNameOf(release)
  return { release, wanted: group === undefined ? null : groupLeaseName(group, NAMESPACE, false) }
}

function conflict(): AppError {
  return new AppError('WRITE_CONFLICT', 'changed since it was read')
}
