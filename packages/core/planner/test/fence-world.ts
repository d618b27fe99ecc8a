import type { FlightRecord, Hold, NodeSelector, ReleaseNodeRules } from '@tranche/api-schema'
import { type FleetPod, type FleetView, type NodeView, toFleetView } from '@tranche/fleet'
import {
  allowanceOf,
  carriedText,
  carryOver,
  changePermits,
  createRecord,
  inheritPermits,
  isConfirmedBy,
  type LivePod,
  openRecord,
  parseCarried,
  permitId,
  recordTouches,
  type TouchAnswer,
  type TouchedPermit,
  revokeRecord,
  widenRecord,
} from '@tranche/flight'
import {
  type PublishedTarget,
  batchScope,
  type Confirmation,
  type NodeToConfirm,
  type PassPlan,
  type PermittedPod,
  planPass,
  type PodToConfirm,
  type Questions,
} from '@tranche/planner'
import { scopeTextOf } from '../src/nodes/batch-scope.ts'

/**
 * A random walk over the fence: executors whose views of pods, of nodes and of the DaemonSet lag, each by itself, and who freeze between any read and any
 * write; a controller that stops, rolls over, changes the limit and the rules by which nodes are taken, grows the batch, and
 * lets go of the DaemonSet for another release to take over; nodes that come and go; pods that flap, for longer or shorter than
 * minReadySeconds; people who delete pods. The world knows the truth and fails when a guarantee is broken; a calm phase at the end must finish the
 * release. Everything that is decided is decided by the real `planPass` and the real record; the checks are written anew.
 */
export function walkFence(seed: number): WalkReport {
  const world = new FenceWorld(seed)
  for (let step = 0; step < STEPS; step++) world.step(step)
  world.finish()
  return world.report
}

/** What a walk has met. */
export interface WalkReport {
  stops: number
  /** Releases that took over while another's pods were on their way. */
  inheritances: number
  deletions: number
  /** Live reads that have settled permits, and those that told another story than the view. */
  confirmed: number
  contradicted: number
  /** Live reads by which a node had left, and those that found it where the view had none. */
  left: number
  stayed: number
  /** Deletions while a spread rule was in force, and those with which as many nodes of the zone were down as it allows. */
  spread: number
  spreadExhausted: number
  budgetExhausted: boolean
  terminating: boolean
  podless: boolean
  misScheduled: boolean
}

const STEPS = 900
const STEP_MS = 250

interface WorldPod {
  readonly uid: number
  readonly revision: string
  readonly ready: boolean
  readonly terminating: boolean
  readonly version: number
  /** Since when it has been Ready, by the one clock there is; null while it is not. */
  readonly readyMs: number | null
}

/** A pod as an executor has it, with when it saw it become Ready. */
interface SeenPod extends WorldPod {
  readonly readyFromMs: number | null
}

/** What the watch of pods delivers. Nodes and the DaemonSet have watches of their own, which may be ahead or behind. */
interface Delivery {
  readonly version: number
  readonly node: string
  readonly pod: WorldPod | null
}

/** What the watch of nodes delivers: a node has joined or left, or is to run a pod or not any more. */
interface NodeDelivery {
  readonly node: string
  readonly desired: boolean
}

interface Executor {
  cursor: number
  seen: number
  readonly pods: Map<string, SeenPod>
  readonly desired: Map<string, boolean>
  /** What live reads have told it. */
  readonly confirmations: Map<string, Confirmation>
  readonly brokenSince: Map<string, number>
  /** How many announcements it has heard (≥ 1). */
  heard: number
  home: Home | null
  deafUntil: number
  /** How many deliveries of its watch of nodes it has seen, and until when that stands still. */
  nodeCursor: number
  blindUntil: number
  /** Until when it does nothing. */
  frozenUntil: number
  /** Decided and not yet written, in order; any of them may be frozen for long. */
  jobs: Job[]
}

/** A record as it was read, and the BatchRelease it is of. */
interface Home {
  readonly uid: string
  readonly record: FlightRecord
  /** What the BatchRelease says of nodes, as it was read together with the record. */
  readonly rules: ReleaseNodeRules | undefined
}

type Job =
  | { readonly kind: 'delete'; readonly pod: PermittedPod; readonly view: Known }
  | { readonly kind: 'write'; readonly from: Home; readonly to: FlightRecord }
  | { readonly kind: 'withdraw'; readonly from: Home; readonly pods: readonly PermittedPod[] }
  | { readonly kind: 'confirm'; readonly questions: Questions }
  | { readonly kind: 'learn'; readonly asked: PodToConfirm; readonly read: LivePod | null }
  | { readonly kind: 'learnNode'; readonly asked: NodeToConfirm; readonly desired: boolean }

/** What the controller is about, and how far it has got. */
interface Change {
  readonly kind: 'stop' | 'rollOver' | 'limit' | 'lower' | 'grow' | 'handOver' | 'scope'
  at: 'start' | 'touch' | 'detach' | 'create' | 'inherit' | 'claim' | 'open'
  readonly limit: number
  /** What was touched for a lower limit, and the record that it was read from. */
  touched?: readonly TouchedPermit[]
  from?: Home | null
}

/** Unavailable nodes that a view showed when something was decided on it, each with since when it had been so. */
type Known = ReadonlyMap<string, number | undefined>

/** A node that we took down: when, in what state, and which nodes the deleting executor knew to be unavailable. */
interface Deleted {
  /** Somebody else had deleted the permitted pod on it before: that node added itself. */
  readonly byOthers: boolean
  readonly version: number
  readonly wasReady: boolean
  readonly knew: Known
}

class FenceWorld {
  readonly report: WalkReport = {
    stops: 0,
    inheritances: 0,
    deletions: 0,
    confirmed: 0,
    contradicted: 0,
    left: 0,
    stayed: 0,
    spread: 0,
    spreadExhausted: 0,
    budgetExhausted: false,
    terminating: false,
    podless: false,
    misScheduled: false,
  }
  readonly #seed: number
  readonly #random: (below: number) => number
  readonly #nodes: readonly string[]
  readonly #pods = new Map<string, WorldPod>()
  readonly #desired = new Map<string, boolean>()
  readonly #log: Delivery[] = []
  readonly #nodeLog: NodeDelivery[] = []
  readonly #executors: Executor[]
  #version = 1
  #nowMs = 0
  readonly #minReadySeconds: number
  #uid = 1
  #template = 'v2'
  #generation = 2
  #size: number
  #record: FlightRecord
  /** Of the BatchRelease that holds the record; null while there is none. */
  #releaseUid: string | null = 'release-1'
  #releases = 1
  /** The annotation in which a release that let go left what was in flight. */
  #unsettled: string | null = null
  readonly #publishedTargets: PublishedTarget[]
  /** D of G1 and G2: nodes on which we deleted a pod, without an available one since, desired all the while. */
  readonly #down = new Map<string, Deleted>()
  /** Since which version a node has been without a Ready pod, whoever caused it. */
  readonly #brokenSince = new Map<string, number>()
  /** Nodes whose pod somebody else deleted, and that have had no available one since; with those pods. */
  readonly #downByOthers = new Map<string, readonly string[]>()
  /** Every limit that was in force, with the version from which it was. */
  readonly #limits: { readonly version: number; readonly limit: number }[] = []
  #largestLimit: number
  #leaked = 0
  #stopped = false
  /** The rules in the spec, and of how many steps nodes may be taken: the record follows. */
  #rules: ReleaseNodeRules | undefined
  #steps: number | null = null
  /** What the scope of each record so far was made from. */
  readonly #rulesOfScope = new Map<string | undefined, { readonly rules: ReleaseNodeRules | undefined; readonly steps: number | null }>()
  /** Every number of nodes of one zone that was in force, with the version from which it was. */
  readonly #spreads: { readonly version: number; readonly limit: number }[] = []
  /** New pods break again and again, until all is calm. */
  readonly #flaps: boolean
  /** Nodes come and go more than elsewhere. */
  readonly #roams: boolean
  /** A revision whose pods never become Ready, until all is calm. */
  readonly #bad: string | null
  #change: Change | null = null

  constructor(seed: number) {
    this.#seed = seed
    this.#random = randomFrom(seed)
    this.#bad = pick(this.#random, [null, null, 'v2', 'v3'])
    this.#minReadySeconds = pick(this.#random, [0, 0, 5, 15])
    this.#flaps = this.#minReadySeconds > 0 && this.#random(2) === 0
    this.#roams = this.#random(3) === 0
    const count = 3 + this.#random(6)
    this.#nodes = Array.from({ length: count }, (_, at) => `node-${at}`)
    for (const node of this.#nodes) {
      this.#setDesired(node, this.#random(this.#roams ? 2 : 12) > 0)
      this.#put(node, { uid: this.#uid++, revision: 'v1', ready: this.#random(5) > 0, terminating: false })
    }
    const limit = 1 + this.#random(3)
    this.#size = this.#roams ? count : 1 + this.#random(count)
    this.#rules = pick(this.#random, ruleSets)
    const scope = this.#scope()
    const allowance = {
      workloadUid: 'daemonset',
      generation: 2,
      revision: 'v2',
      size: this.#size,
      partition: this.#partition(),
      limit,
      scope,
    }
    this.#record = openRecord(createRecord(allowance, String(this.#version)), allowance, String(this.#version))
    this.#largestLimit = limit
    this.#noteLimit()
    this.#publishedTargets = [this.#published()]
    this.#executors = Array.from({ length: (this.#roams ? 2 : 1) + this.#random(3) }, () => this.#newExecutor())
  }

  step(at: number): void {
    this.#passTime(STEP_MS)
    const dice = this.#random(100)
    if (dice < 25) this.#moveWorld(false)
    else if (dice < 90) this.#moveExecutor(this.#executors[this.#random(this.#executors.length)]!, at)
    else this.#moveController(false)
    this.#note()
  }

  /** Everything is delivered and nobody disturbs: the release must end (G6). */
  finish(): void {
    for (let i = 0; this.#change !== null && i < 200; i++) this.#moveController(true)
    this.#size = this.#nodes.length
    this.#steps = null
    this.#widen(this.#record.limit)
    for (let i = 0; i < 3_000; i++) {
      if (this.#isDone()) return
      this.#passTime(10 * STEP_MS)
      this.#settlePartition()
      this.#moveWorld(true)
      for (const executor of this.#executors) {
        this.#deliver(executor, this.#log.length)
        this.#deliverNodes(executor, this.#nodeLog.length)
        executor.heard = this.#publishedTargets.length
        while (executor.jobs.length > 0) this.#perform(executor, 0)
        executor.home = this.#home()
        this.#decide(executor)
        while (executor.jobs.length > 0) this.#perform(executor, 0)
      }
    }
    this.#fail(`G6: the release never ends: ${JSON.stringify({ record: this.#record, pods: [...this.#pods] })}`)
  }

  // ── the cluster ──────────────────────────────────────────────────────────

  #moveWorld(quiesced: boolean): void {
    const node = this.#nodes[this.#random(this.#nodes.length)]!
    const pod = this.#pods.get(node)
    const dice = quiesced ? 5 : this.#random(12)
    if (this.#desired.get(node) !== true) {
      if (pod?.terminating === true) this.#put(node, null)
      else if (pod !== undefined && !quiesced && dice < 3) {
        // By the DaemonSet controller: the node may be desired again before a new pod is there.
        this.#noteOthers(node, pod)
        this.#put(node, { ...pod, terminating: true, ready: false })
      }
    } else if (pod === undefined) this.#put(node, { uid: this.#uid++, revision: this.#template, ready: false, terminating: false })
    else if (pod.terminating) {
      if (quiesced || dice > 1) this.#put(node, null)
    } else if (!pod.ready && dice < 8 && ((quiesced && this.#isHealing(node, pod)) || pod.revision !== this.#bad))
      this.#becomeReady(node, pod)
    else if (pod.ready && (dice === 0 || (this.#isFlapping(pod) && !quiesced && dice < 8))) this.#put(node, { ...pod, ready: false })
    else if (dice === 11 && this.#random(5) === 0) this.#deletedByOthers(node, pod)
    if (!quiesced && this.#random(this.#roams ? 20 : 60) === 0) this.#flipDesired(node)
  }

  #isFlapping({ revision }: WorldPod): boolean {
    return this.#flaps && revision === this.#template
  }

  /** Nobody may mend an excluded node by taking it, so it must heal by itself. */
  #isHealing(node: string, { revision }: WorldPod): boolean {
    return revision === this.#record.revision || this.#isExcluded(node)
  }

  #isExcluded(node: string): boolean {
    return this.#rules?.exclude?.some((one) => matches(one, node)) === true
  }

  #becomeReady(node: string, pod: WorldPod): void {
    this.#put(node, { ...pod, ready: true })
    this.#passTime(0)
  }

  #passTime(ms: number): void {
    this.#nowMs += ms
    for (const node of new Set([...this.#down.keys(), ...this.#downByOthers.keys()])) {
      const pod = this.#pods.get(node)
      if (pod === undefined || pod.terminating || pod.readyMs === null) continue
      if (this.#nowMs - pod.readyMs < this.#minReadySeconds * 1_000) continue
      this.#down.delete(node)
      this.#downByOthers.delete(node)
    }
  }

  #deletedByOthers(node: string, pod: WorldPod): void {
    if (pod.revision !== this.#record.revision) this.#leaked++
    this.#noteOthers(node, pod)
    this.#put(node, { ...pod, terminating: true, ready: false })
  }

  #noteOthers(node: string, { uid }: WorldPod): void {
    this.#downByOthers.set(node, [...(this.#downByOthers.get(node) ?? []), String(uid)])
  }

  #flipDesired(node: string): void {
    const desired = this.#desired.get(node) !== true
    this.#setDesired(node, desired)
    // A node that comes runs the new revision unasked; one that goes takes its old pod, and its place in the size, with it.
    if (desired || this.#pods.get(node)?.revision !== this.#record.revision) this.#leaked++
    if (!desired) this.#down.delete(node)
    // Somebody freezes just when a node comes, which others will delete on; its watch of nodes takes longest to come back.
    const [frozen] = this.#executors
    if (!desired || frozen === undefined || this.#random(3) === 0) return
    frozen.frozenUntil = this.#nowMs + STEP_MS * this.#random(200)
    frozen.blindUntil = frozen.frozenUntil + STEP_MS * this.#random(200)
  }

  #setDesired(node: string, desired: boolean): void {
    this.#desired.set(node, desired)
    this.#nodeLog.push({ node, desired })
  }

  #put(node: string, pod: Omit<WorldPod, 'version' | 'readyMs'> | null): void {
    const version = ++this.#version
    const before = this.#pods.get(node)
    if (pod === null) this.#pods.delete(node)
    else {
      const readyMs = before?.uid === pod.uid && before.ready ? before.readyMs : this.#nowMs
      this.#pods.set(node, { ...pod, version, readyMs: pod.ready ? readyMs : null })
    }
    const delivery = { version, node, pod: this.#pods.get(node) ?? null }
    noteBreak(this.#brokenSince, delivery)
    this.#log.push(delivery)
  }

  // ── executors ────────────────────────────────────────────────────────────

  #newExecutor(): Executor {
    const executor: Executor = {
      cursor: 0,
      seen: 0,
      pods: new Map(),
      desired: new Map(),
      confirmations: new Map(),
      brokenSince: new Map(),
      heard: this.#publishedTargets.length,
      home: null,
      deafUntil: 0,
      nodeCursor: 0,
      blindUntil: 0,
      frozenUntil: 0,
      jobs: [],
    }
    this.#deliver(executor, this.#log.length)
    this.#deliverNodes(executor, this.#nodeLog.length)
    return executor
  }

  #moveExecutor(executor: Executor, at: number): void {
    if (executor.frozenUntil > this.#nowMs) return
    if (this.#random(3) === 0) executor.heard += this.#random(this.#publishedTargets.length - executor.heard + 1)
    if (executor.blindUntil <= this.#nowMs && this.#random(3) === 0)
      this.#deliverNodes(executor, executor.nodeCursor + this.#random(this.#nodeLog.length - executor.nodeCursor + 1))
    if (executor.deafUntil <= at && this.#random(250) === 0) executor.deafUntil = at + 50 + this.#random(400)
    if (executor.deafUntil <= at && this.#random(4) === 0) {
      this.#deliver(executor, Math.min(this.#log.length, executor.cursor + 1 + this.#random(this.#log.length - executor.cursor + 1)))
      // A watch that stalls just when a pod has become Ready.
      const isReady = this.#log[executor.cursor - 1]?.pod?.ready === true
      if (this.#flaps && isReady && this.#random(4) === 0) executor.deafUntil = at + 50 + this.#random(200)
      return
    }
    if (executor.jobs.length > 0) {
      if (this.#random(3) === 0) this.#perform(executor, this.#random(executor.jobs.length))
      return
    }
    if (executor.home === null || this.#random(2) === 0) executor.home = this.#home()
    else this.#decide(executor)
  }

  #deliver(executor: Executor, to: number): void {
    for (; executor.cursor < to; executor.cursor++) {
      const delivery = this.#log[executor.cursor]!
      executor.seen = delivery.version
      noteBreak(executor.brokenSince, delivery)
      if (delivery.pod === null) executor.pods.delete(delivery.node)
      else executor.pods.set(delivery.node, this.#seen(delivery.pod, executor.pods.get(delivery.node)))
    }
  }

  #deliverNodes(executor: Executor, to: number): void {
    for (; executor.nodeCursor < to; executor.nodeCursor++) {
      const { node, desired } = this.#nodeLog[executor.nodeCursor]!
      executor.desired.set(node, desired)
    }
  }

  /** Ready from the first sight of it, which may be long after it was so. */
  #seen(pod: WorldPod, before: SeenPod | undefined): SeenPod {
    if (!pod.ready) return { ...pod, readyFromMs: null }
    const isSame = before?.uid === pod.uid && before.readyFromMs !== null && stampOf(before) === stampOf(pod)
    return { ...pod, readyFromMs: isSame ? before.readyFromMs : this.#nowMs }
  }

  #decide(executor: Executor): void {
    const { home } = executor
    if (home === null) return
    const { record, uid, rules } = home
    const fleet = fleetOf(this.#nodes, executor, this.#bad)
    const plan = planPass({
      published: this.#publishedTargets[executor.heard - 1]!,
      releaseUid: uid,
      record,
      nodes: rules,
      fleet,
      podsSeen: String(executor.seen),
      sent: new Set(),
      confirmations: executor.confirmations,
      // A verdict may come and go at any moment, and no two executors need think the same.
      isBad: this.#random(8) === 0,
      monotonicMs: this.#nowMs,
    })
    executor.jobs = this.#toJobs(plan, home, new Map(unavailableIn(fleet).map((node) => [node, executor.brokenSince.get(node)])))
  }

  #toJobs(plan: PassPlan, from: Home, view: Known): Job[] {
    if (plan.kind === 'execute') return plan.pods.map((pod): Job => ({ kind: 'delete', pod, view }))
    if (plan.kind === 'changePermits') return [{ kind: 'write', from, to: changePermits(from.record, plan.change) }]
    if (plan.kind === 'withdraw') return [{ kind: 'withdraw', from, pods: plan.pods }]
    if (plan.kind === 'confirm') return [{ kind: 'confirm', questions: plan }]
    return []
  }

  #perform(executor: Executor, at: number): void {
    const [job] = executor.jobs.splice(at, 1)
    if (job === undefined) return
    if (job.kind === 'delete') this.#delete(job)
    else if (job.kind === 'write') this.#compareAndSwap(job.from, job.to)
    else if (job.kind === 'confirm') {
      const { pods, nodes } = job.questions
      for (const asked of pods) executor.jobs.push({ kind: 'learn', asked, read: this.#read(asked.pod.node) })
      for (const asked of nodes) executor.jobs.push({ kind: 'learnNode', asked, desired: this.#desired.get(asked.node) === true })
    } else if (job.kind === 'learn') this.#learn(executor, job)
    else if (job.kind === 'learnNode') this.#learnNode(executor, job)
    else {
      const touched = job.pods.map(({ permit }) => ({ permit, answer: this.#touch(permit.node, permit.podUid) }))
      executor.jobs.push({ kind: 'write', from: job.from, to: recordTouches(job.from.record, touched) })
    }
  }

  #read(node: string): LivePod | null {
    const pod = this.#pods.get(node)
    return pod === undefined ? null : fleetPod(node, { ...pod, readyFromMs: pod.readyMs })
  }

  #learn({ confirmations }: Executor, { asked, read }: Job & { kind: 'learn' }): void {
    const isConfirmed = isConfirmedBy(asked.pod, read, asked.overdueMs)
    this.report[isConfirmed ? 'confirmed' : 'contradicted']++
    const open = { kind: 'open', podVersion: asked.pod.resourceVersion, againAtMs: this.#nowMs + 1_000 } as const
    for (const permit of asked.permits) confirmations.set(permitId(permit), isConfirmed ? { kind: 'confirmed' } : open)
  }

  #learnNode({ confirmations }: Executor, { asked, desired }: Job & { kind: 'learnNode' }): void {
    this.report[desired ? 'stayed' : 'left']++
    const open = { kind: 'open', podVersion: null, againAtMs: this.#nowMs + 1_000 } as const
    for (const permit of asked.permits) confirmations.set(permitId(permit), desired ? open : { kind: 'confirmed' })
  }

  /** The API server's side of a delete: preconditions first, then what the guarantees say about it. */
  #delete({ pod: { permit }, view }: Job & { kind: 'delete' }): void {
    const pod = this.#pods.get(permit.node)
    if (pod === undefined || String(pod.uid) !== permit.podUid || pod.terminating || String(pod.version) !== permit.podResourceVersion)
      return
    if (this.#stopped) this.#fail('G9: a delete was accepted after the stop was acknowledged')
    if (pod.revision === this.#record.revision) this.#fail('G4: a pod of the revision being released was deleted')
    const desired = this.#desired.get(permit.node) === true
    if (desired && this.#onTheWay() >= this.#sizeNow() + this.#leaked)
      this.#fail(`G3: ${this.#onTheWay()} nodes are on the way, the batch is ${this.#sizeNow()}`)
    const beside = this.#downOrKnownUnavailable(permit.node, view)
    if (pod.ready && beside.length >= this.#largestLimit) this.#fail(`G1: an available pod was deleted beside ${beside.join(' ')}`)
    this.#checkScope(permit.node, pod.ready ? beside : [])
    this.#put(permit.node, { ...pod, terminating: true, ready: false })
    this.report.deletions++
    if (desired) this.#takeDown(permit.node, { version: this.#version, wasReady: pod.ready, knew: view })
  }

  /** G2: by the largest limit since the oldest of the nodes that are down; deleting again on one of them adds nothing. */
  #takeDown(node: string, deleted: Omit<Deleted, 'byOthers'>): void {
    const before = this.#down.get(node)
    const byOthers = before?.byOthers ?? this.#hadPermitWhenOthersDeleted(node)
    this.#down.set(node, { ...deleted, byOthers, version: before?.version ?? deleted.version })
    if (before !== undefined || byOthers) return
    const ours = [...this.#down].filter(([, other]) => !other.byOthers)
    const limit = this.#largestLimitSince(Math.min(...ours.map(([, { version }]) => version)))
    if (ours.length > limit) this.#fail(`G2: ${ours.map(([name]) => name).join(' ')} are down, the limit is ${limit}`)
  }

  /** Nodes outside the scope of the record are never taken; of one zone, never more are down beside the node than its rule allows. */
  #checkScope(node: string, beside: readonly string[]): void {
    const { rules, steps } = this.#rulesOfScope.get(this.#record.scope) ?? {}
    const inSteps = steps === null || steps === undefined || rules?.steps?.slice(0, steps).some((step) => matches(step, node)) === true
    if (!inSteps || rules?.exclude?.some((one) => matches(one, node)) === true) this.#fail(`${node} is not in scope`)
    const inFlight = [...this.#down].filter(([other]) => other !== node && zoneOf(other) === zoneOf(node))
    const limit = largestSince(this.#spreads, Math.min(this.#version, ...inFlight.map(([, { version }]) => version)))
    if (!Number.isFinite(limit)) return
    this.report.spread++
    const besideInZone = beside.filter((other) => zoneOf(other) === zoneOf(node))
    if (besideInZone.length >= limit) this.#fail(`G1: an available pod of a zone was deleted beside ${besideInZone.join(' ')}`)
    const isNew = !this.#down.has(node) && !this.#hadPermitWhenOthersDeleted(node)
    const ours = inFlight.filter(([, other]) => !other.byOthers)
    if (isNew && ours.length >= limit) this.#fail(`G2: in a zone are down ${ours.map(([name]) => name).join(' ')} beside ${node}`)
    if (ours.length === limit - 1) this.report.spreadExhausted++
  }

  /** Such a pod of a permit was not judged; also where a lagging executor has written the permit after it was gone. */
  #hadPermitWhenOthersDeleted(node: string): boolean {
    return this.#record.permits.some(({ podUid }) => this.#downByOthers.get(node)?.includes(podUid))
  }

  /** The largest limit in force at or after a version of the world. */
  #largestLimitSince(version: number): number {
    return largestSince(this.#limits, version)
  }

  #noteLimit(): void {
    const limit = this.#rulesOfScope.get(this.#record.scope)?.rules?.spread?.[0]?.maxUnavailable ?? Number.POSITIVE_INFINITY
    if (this.#spreads.at(-1)?.limit !== limit) this.#spreads.push({ version: this.#version, limit })
    if (this.#limits.at(-1)?.limit !== this.#record.limit) this.#limits.push({ version: this.#version, limit: this.#record.limit })
  }

  /**
   * |D ∪ U| of G1 beside the node itself. What broke by other hands and had not been delivered to whoever deleted may add
   * itself, nothing more: a node of U that a member of D was deleted in ignorance of, and a member of D that was already
   * broken and that this view does not show.
   */
  #downOrKnownUnavailable(own: string, view: Known): readonly string[] {
    const inFlight = [...this.#down].filter(([node, deleted]) => node !== own && (deleted.wasReady || view.has(node)))
    const known = [...view.keys()].filter((node) => {
      const since = this.#brokenSince.get(node)
      if (node === own || this.#down.has(node) || since === undefined || view.get(node) !== since) return false
      return inFlight.every(([, deleted]) => deleted.knew.get(node) === since || since > deleted.version)
    })
    return [...inFlight.map(([node]) => node), ...known]
  }

  #touch(node: string, uid: string): TouchAnswer {
    const pod = this.#pods.get(node)
    if (pod === undefined || String(pod.uid) !== uid || pod.terminating) return { kind: 'executed' }
    this.#put(node, pod)
    return { kind: 'standing', resourceVersion: String(this.#pods.get(node)!.version) }
  }

  #compareAndSwap(from: Home | null, to: FlightRecord): boolean {
    if (from === null || from.uid !== this.#releaseUid) return false
    if (this.#record.epoch !== from.record.epoch || this.#record.seq !== from.record.seq) return false
    // Who comes next counts by the record alone: a node in flight that it does not have would be taken for up.
    const kept = new Set(to.permits.map(({ node }) => node))
    const lost = from.record.permits.find(({ node }) => this.#down.has(node) && !kept.has(node))
    if (lost !== undefined) this.#fail(`F6: a permit left while ${lost.node} was in flight`)
    this.#record = to
    this.#noteLimit()
    return true
  }

  #home(): Home | null {
    return this.#releaseUid === null ? null : { uid: this.#releaseUid, record: this.#record, rules: this.#rules }
  }

  // ── the controller ───────────────────────────────────────────────────────

  #moveController(quiesced: boolean): void {
    this.#settlePartition()
    if (this.#change === null) {
      if (quiesced || this.#random(12) > 0) return
      this.#change = {
        kind: pick(this.#random, ['stop', 'rollOver', 'limit', 'lower', 'grow', 'handOver', 'scope']),
        at: 'start',
        limit: 1 + this.#random(3),
      }
    }
    const change = this.#change
    if (change.kind === 'grow') {
      if (this.#steps !== null && this.#random(2) === 0) this.#steps = null
      this.#size = Math.min(this.#nodes.length, this.#size + 1 + this.#random(this.#nodes.length))
      this.#widen(this.#record.limit)
      this.#change = null
    } else if (change.kind === 'lower') this.#lowerLimit(change)
    else if (change.at === 'start') this.#beginChange(change)
    else if (change.at === 'touch') this.#touchAll(change)
    else if (change.at !== 'open') this.#handOver(change, change.at, quiesced)
    else if (quiesced || this.#random(5) === 0) this.#open(change)
    if (this.#down.size <= this.#record.limit && this.#record.permits.length === 0) this.#largestLimit = this.#record.limit
  }

  #beginChange(change: Change): void {
    const holds: readonly Hold[] = change.kind === 'stop' ? [{ reason: 'Paused', id: '1' }] : []
    if (change.kind === 'stop' || change.kind === 'handOver') this.#publish({ paused: true })
    if (change.kind === 'rollOver') this.#changeTemplate()
    if (change.kind === 'scope') {
      this.#rules = pick(this.#random, ruleSets)
      this.#steps = this.#rules?.steps === undefined ? null : pick(this.#random, [1, 2, null])
      // Executors may see the spec before anything is voided.
      if (this.#random(2) === 0) return
    }
    this.#compareAndSwap(this.#home(), revokeRecord(this.#record, holds))
    change.at = 'touch'
  }

  /** F10: every unexecuted permit is withdrawn, then the lower limit is written with what is left; executors go on meanwhile. */
  #lowerLimit(change: Change): void {
    const home = this.#home()
    const record = this.#record
    if (change.at === 'start') {
      change.touched = record.permits.map((permit) => ({ permit, answer: this.#touch(permit.node, permit.podUid) }))
      change.from = home
      change.at = 'touch'
      return
    }
    this.#change = null
    const from = change.from ?? null
    if (from === null || from.record.state !== 'open' || change.limit >= from.record.limit) return
    const lower = { ...allowanceOf(from.record), limit: change.limit }
    this.#compareAndSwap(from, widenRecord(recordTouches(from.record, change.touched ?? []), lower))
  }

  #touchAll(change: Change): void {
    const home = this.#home()
    const record = this.#record
    const touched = record.permits.map((permit) => ({ permit, answer: this.#touch(permit.node, permit.podUid) }))
    if (!this.#compareAndSwap(home, recordTouches(record, touched))) return
    if (this.#record.state !== 'stopped') this.#fail('F8: every pod answered, and the record is not stopped')
    this.#stopped = true
    this.report.stops++
    change.at = change.kind === 'handOver' ? 'detach' : 'open'
  }

  /**
   * One release lets go and another takes over, each step a write after which the process may have died: then the step is
   * made again by another, which may go by what it saw before. Meanwhile nobody is in charge, and the template may change.
   */
  #handOver(change: Change, at: 'detach' | 'create' | 'inherit' | 'claim', quiesced: boolean): void {
    if (!quiesced && this.#random(3) > 0) return
    const again = !quiesced && this.#random(4) === 0
    if (at === 'detach') {
      const carried = carryOver(this.#record)
      this.#unsettled = carried === null ? null : carriedText(carried)
      this.#releaseUid = null
      this.#publish({ controlledBy: undefined, canaryRevision: undefined, partition: undefined })
      if (this.#random(2) === 0) this.#changeTemplate()
      change.at = 'create'
    } else if (at === 'create') {
      this.#releaseUid = `release-${++this.#releases}`
      const newest = Math.max(0, ...[...this.#pods.values()].map(({ version }) => version))
      this.#record = createRecord({ ...allowanceOf(this.#record), size: this.#size }, String(newest))
      change.at = 'inherit'
    } else if (at === 'inherit') {
      const carried = this.#unsettled === null ? null : parseCarried(this.#unsettled)
      const inherited = carried === null ? null : inheritPermits(this.#record, carried)
      if (inherited !== null) this.#compareAndSwap(this.#home(), inherited)
      if (inherited !== null) this.report.inheritances++
      if (!again) change.at = 'claim'
    } else {
      this.#publish({ controlledBy: this.#releaseUid ?? undefined, canaryRevision: this.#template, partition: this.#partition() })
      if (again) change.at = 'inherit'
      else {
        this.#unsettled = null
        change.at = 'open'
      }
    }
  }

  #changeTemplate(): void {
    this.#template = pick(this.#random, ['v1', 'v2', 'v3'])
    this.#generation++
    this.#publish({})
  }

  #open(change: Change): void {
    this.#stopped = false
    const limit = change.kind === 'limit' ? change.limit : this.#record.limit
    if (change.kind === 'rollOver' || change.kind === 'handOver') this.#leaked = this.#nodes.length
    this.#largestLimit = Math.max(limit, this.#record.permits.length > 0 ? this.#largestLimit : 0, this.#down.size)
    const before = this.#record
    const allowance = {
      workloadUid: 'daemonset',
      generation: this.#generation,
      revision: this.#template,
      size: this.#size,
      partition: this.#partition(),
      limit,
      scope: this.#scope(),
    }
    this.#publish({ paused: false, canaryRevision: this.#template, partition: allowance.partition })
    this.#compareAndSwap(this.#home(), openRecord(before, allowance, before.watermark))
    this.#change = null
  }

  /** A partition follows the desired nodes; here a larger one is as good as void and open again at once. */
  #settlePartition(): void {
    if (this.#record.state !== 'open' || this.#record.partition === this.#partition()) return
    // Other rules are voided for first: they are never widened to.
    if (this.#change?.kind === 'scope') return
    if (this.#partition() < this.#record.partition) this.#widen(this.#record.limit)
    else this.#change ??= { kind: 'limit', at: 'start', limit: this.#record.limit }
  }

  #widen(limit: number): void {
    if (this.#record.state !== 'open') return
    const partition = this.#partition()
    this.#publish({ partition })
    this.#compareAndSwap(
      this.#home(),
      widenRecord(this.#record, {
        ...allowanceOf(this.#record),
        size: this.#size,
        partition,
        limit,
        scope: this.#scope(),
      }),
    )
  }

  #publish(change: Partial<PublishedTarget>): void {
    const generations = { generation: this.#generation, observedGeneration: this.#generation }
    this.#publishedTargets.push({ ...this.#publishedTargets.at(-1)!, ...generations, ...change })
  }

  #published(): PublishedTarget {
    return {
      uid: 'daemonset',
      generation: this.#generation,
      observedGeneration: this.#generation,
      controlledBy: 'release-1',
      canaryRevision: 'v2',
      stableRevision: 'v1',
      partition: this.#partition(),
      paused: false,
      strategy: 'OnDelete',
      inProgress: true,
      minReadySeconds: this.#minReadySeconds,
    }
  }

  // ── what is true ─────────────────────────────────────────────────────────

  /** What a record says of the rules in the spec. */
  #scope(): string | undefined {
    const text = scopeTextOf(batchScope(this.#rules, this.#steps === null ? null : this.#steps - 1))
    this.#rulesOfScope.set(text, { rules: this.#rules, steps: this.#steps })
    return text
  }

  #partition(): number {
    return Math.max(0, this.#desiredNodes().length - this.#size)
  }

  #sizeNow(): number {
    return Math.max(0, Math.min(this.#record.size ?? 0, this.#desiredNodes().length - this.#record.partition))
  }

  #desiredNodes(): string[] {
    return this.#nodes.filter((node) => this.#desired.get(node) === true)
  }

  #onTheWay(): number {
    return this.#desiredNodes().filter((node) => {
      const pod = this.#pods.get(node)
      return pod === undefined || pod.terminating || pod.revision === this.#record.revision
    }).length
  }

  #isDone(): boolean {
    return this.#desiredNodes().every((node) => {
      const pod = this.#pods.get(node)
      if (this.#isExcluded(node)) return true
      return pod?.revision === this.#record.revision && pod.ready && !pod.terminating
    })
  }

  #note(): void {
    const { report } = this
    const desired = this.#desiredNodes()
    report.budgetExhausted ||= this.#down.size >= this.#record.limit
    report.podless ||= desired.some((node) => !this.#pods.has(node))
    report.terminating ||= desired.some((node) => this.#pods.get(node)?.terminating === true)
    report.misScheduled ||= this.#nodes.some((node) => this.#desired.get(node) !== true && this.#pods.has(node))
  }

  #fail(message: string): never {
    throw new Error(`walk ${this.#seed}: ${message}`)
  }
}

const inZone = (zone: string): NodeSelector => ({ matchLabels: { zone } })
const spreadBy = (maxUnavailable: number): Pick<ReleaseNodeRules, 'spread'> => ({ spread: [{ topologyKey: 'zone', maxUnavailable }] })

/** By which nodes may be taken. */
const ruleSets: readonly (ReleaseNodeRules | undefined)[] = [
  undefined,
  spreadBy(1),
  spreadBy(1),
  spreadBy(2),
  { ...spreadBy(1), order: [{ selector: inZone('b') }, { by: 'Newest' }] },
  { exclude: [{ matchLabels: { pool: 'kept' } }] },
  { ...spreadBy(1), exclude: [{ matchLabels: { pool: 'kept' } }] },
  { ...spreadBy(1), steps: [inZone('a'), inZone('b'), {}] },
]

/** Three zones, the third of which has no name; each third node is of a pool that may be excluded. */
function labelsOf(node: string): Readonly<Record<string, string>> {
  const at = Number(node.slice('node-'.length))
  const zone = ['a', 'b', 'a', '', 'b'][at % 5]!
  return { ...(zone !== '' && { zone }), ...(at % 3 === 0 && { pool: 'kept' }) }
}

function zoneOf(node: string): string {
  return labelsOf(node)['zone'] ?? ''
}

function matches({ matchLabels = {} }: NodeSelector, node: string): boolean {
  return Object.entries(matchLabels).every(([key, value]) => labelsOf(node)[key] === value)
}

/** The largest that was in force at or after a version of the world. */
function largestSince(entries: readonly { readonly version: number; readonly limit: number }[], version: number): number {
  const later = entries.findIndex((entry) => entry.version > version)
  const from = later === -1 ? entries.length - 1 : Math.max(0, later - 1)
  return Math.max(...entries.slice(from).map(({ limit }) => limit))
}

/** Keeps up since when a node has been without a Ready, standing pod. */
function noteBreak(
  brokenSince: Map<string, number>,
  { node, pod, version }: { readonly node: string; readonly pod: WorldPod | null; readonly version: number },
): void {
  if (pod?.ready === true && !pod.terminating) brokenSince.delete(node)
  else if (!brokenSince.has(node)) brokenSince.set(node, version)
}

/** @param bad a revision that makes every fourth node NotReady, while the kubelet there goes on */
function fleetOf(nodes: readonly string[], { pods, desired }: Pick<Executor, 'pods' | 'desired'>, bad: string | null): FleetView {
  const views = nodes.flatMap((name): NodeView[] => {
    const pod = pods.get(name)
    const isDesired = desired.get(name) === true
    if (!isDesired && pod === undefined) return []
    const ready = pod?.revision !== bad || Number(name.slice('node-'.length)) % 4 !== 1
    return [
      { name, desired: isDesired, ready, answers: true, labels: labelsOf(name), pods: pod === undefined ? [] : [fleetPod(name, pod)] },
    ]
  })
  return toFleetView(views)
}

/** Conditions are stamped in whole seconds. */
function stampOf({ readyMs }: WorldPod): string | undefined {
  return readyMs === null ? undefined : new Date(Math.floor(readyMs / 1_000) * 1_000).toISOString()
}

function fleetPod(node: string, pod: SeenPod): FleetPod {
  return {
    namespace: 'demo',
    name: `pod-${pod.uid}`,
    uid: String(pod.uid),
    resourceVersion: String(pod.version),
    ownerUid: 'daemonset',
    labels: {},
    node,
    hash: pod.revision,
    createdAt: new Date(pod.uid * 1000).toISOString(),
    terminating: pod.terminating,
    phase: 'Running',
    acknowledged: true,
    ready: pod.ready,
    readyFromMs: pod.readyFromMs,
    readyStamp: stampOf(pod),
    trouble: undefined,
    restarts: 0,
    rolloutId: undefined,
    rolloutBatchId: undefined,
  }
}

/** Desired nodes without a Ready, standing pod, as a view shows them; written apart from the planner's own count. */
function unavailableIn(fleet: FleetView): readonly string[] {
  return fleet.nodes.filter((node) => node.desired && !node.pods.some((pod) => pod.ready && !pod.terminating)).map(({ name }) => name)
}

function randomFrom(seed: number): (below: number) => number {
  let state = Math.imul(seed + 1, 2654435761) >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 4294967296) * below)
  }
}

function pick<const T>(random: (below: number) => number, values: readonly T[]): T {
  return values[random(values.length)]!
}
