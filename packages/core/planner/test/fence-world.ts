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
  type PublishedTarget,
  batchScope,
  type Confirmation,
  type NodeToConfirm,
  type PassPlan,
  type PermittedPod,
  planPass,
  type PodToConfirm,
  type Questions,
  scopeTextOf,
} from '@tranche/fence'

/**
 * A random walk over the fence. Executors have lagging views of pods, nodes and the DaemonSet, each independently, and freeze
 * between any read and any write. The controller stops, rolls over, changes the limit and the node rules, grows the batch,
 * and detaches so that another release takes over. Nodes come and go; pods flap for longer or shorter than minReadySeconds;
 * users delete pods. The world knows the truth and fails when a guarantee is broken. A quiet phase at the end must finish the
 * release. The real `planPass` and the real record make every decision; the checks are written independently.
 */
export function walkFence(seed: number): WalkReport {
  const world = new FenceWorld(seed)
  for (let step = 0; step < STEPS; step++) world.step(step)
  world.finish()
  return world.report
}

/** Counters of the cases that a walk has covered. */
export interface WalkReport {
  stops: number
  /** Releases that took over while another's pods were in flight. */
  inheritances: number
  deletions: number
  /** Live reads that settled permits, and those that contradicted the view. */
  confirmed: number
  contradicted: number
  /** Live reads that confirmed a node had left, and those that found a node missing from the view. */
  left: number
  stayed: number
  /** Deletions while a spread rule was in force, and those that brought a zone to its maximum of nodes down. */
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
  /** Since when it has been Ready, by the one clock; null while it is not. */
  readonly readyMs: number | null
}

/** A pod in an executor's view, with the time at which it saw the pod become Ready. */
interface SeenPod extends WorldPod {
  readonly readyFromMs: number | null
}

/** Events of the pod watch. Nodes and the DaemonSet have their own watches, which may be ahead or behind. */
interface Delivery {
  readonly version: number
  readonly node: string
  readonly pod: WorldPod | null
}

/** Events of the node watch: a node joins, leaves, or changes whether it should run a pod. */
interface NodeDelivery {
  readonly node: string
  readonly desired: boolean
}

interface Executor {
  cursor: number
  seen: number
  readonly pods: Map<string, SeenPod>
  readonly desired: Map<string, boolean>
  /** Results of its live reads. */
  readonly confirmations: Map<string, Confirmation>
  readonly brokenSince: Map<string, number>
  /** Number of published targets it has received (≥ 1). */
  heard: number
  home: Home | null
  deafUntil: number
  /** Number of node events it has seen, and until when that watch stalls. */
  nodeCursor: number
  blindUntil: number
  /** Until when it is frozen. */
  frozenUntil: number
  /** Decided writes, in order; each may be frozen for long. */
  jobs: Job[]
}

/** A record as it was read, and its BatchRelease. */
interface Home {
  readonly uid: string
  readonly record: FlightRecord
  /** Node rules of the BatchRelease, read together with the record. */
  readonly rules: ReleaseNodeRules | undefined
}

type Job =
  | { readonly kind: 'delete'; readonly pod: PermittedPod; readonly view: Known }
  | { readonly kind: 'write'; readonly from: Home; readonly to: FlightRecord }
  | { readonly kind: 'withdraw'; readonly from: Home; readonly pods: readonly PermittedPod[] }
  | { readonly kind: 'confirm'; readonly questions: Questions }
  | { readonly kind: 'learn'; readonly asked: PodToConfirm; readonly read: LivePod | null }
  | { readonly kind: 'learnNode'; readonly asked: NodeToConfirm; readonly desired: boolean }

/** The controller's present operation and its progress. */
interface Change {
  readonly kind: 'stop' | 'rollOver' | 'limit' | 'lower' | 'grow' | 'handOver' | 'scope'
  at: 'start' | 'touch' | 'detach' | 'create' | 'inherit' | 'claim' | 'open'
  readonly limit: number
  /** Touches made for a lower limit, and the record they were made for. */
  touched?: readonly TouchedPermit[]
  from?: Home | null
}

/** Unavailable nodes in a view at a decision, each with the time since when. */
type Known = ReadonlyMap<string, number | undefined>

/** A node that an executor took down: when, in what state, and which nodes the executor knew to be unavailable. */
interface Deleted {
  /** Another client deleted the permitted pod first: that node added itself. */
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
  /** UID of the BatchRelease that holds the record; null without a record. */
  #releaseUid: string | null = 'release-1'
  #releases = 1
  /** Annotation in which a detached release left its nodes in flight. */
  #unsettled: string | null = null
  readonly #publishedTargets: PublishedTarget[]
  /** D of G1 and G2: nodes, desired all the while, on which an executor deleted a pod and which have had no available pod since. */
  readonly #down = new Map<string, Deleted>()
  /** Version since which a node has been without a Ready pod, whatever the cause. */
  readonly #brokenSince = new Map<string, number>()
  /** Nodes whose pod another client deleted and that have had no available pod since; with those pods. */
  readonly #downByOthers = new Map<string, readonly string[]>()
  /** Every limit that was in force, with its first version. */
  readonly #limits: { readonly version: number; readonly limit: number }[] = []
  #largestLimit: number
  #leaked = 0
  #stopped = false
  /** Rules in the spec, and how many steps' nodes may be taken: the record follows. */
  #rules: ReleaseNodeRules | undefined
  #steps: number | null = null
  /** Rules behind the scope of each record so far. */
  readonly #rulesOfScope = new Map<string | undefined, { readonly rules: ReleaseNodeRules | undefined; readonly steps: number | null }>()
  /** Every per-zone maximum that was in force, with its first version. */
  readonly #spreads: { readonly version: number; readonly limit: number }[] = []
  /** New pods break again and again, until the quiet phase. */
  readonly #flaps: boolean
  /** Nodes come and go more often than in other walks. */
  readonly #roams: boolean
  /** A revision whose pods never become Ready, until the quiet phase. */
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

  /** Everything is delivered and no fault occurs: the release must end (G6). */
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
        // As by the DaemonSet controller: the node may be desired again before a new pod exists.
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

  /** An excluded node is never taken, so it must recover by itself. */
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
    // A joining node runs the new revision at once; a leaving one takes its old pod, and its place in the size, with it.
    if (desired || this.#pods.get(node)?.revision !== this.#record.revision) this.#leaked++
    if (!desired) this.#down.delete(node)
    // An executor freezes when a node joins, on which others will delete; its node watch resumes last.
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
      // A watch that stalls when a pod has become Ready.
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

  /** Ready as of the first event that shows it, which may be much later. */
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
      checks: new Map(),
      // A verdict may come and go at any moment, and executors need not agree.
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

  /** The API server's side of a delete: first the preconditions, then the guarantees about it. */
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

  /** Nodes outside the record's scope are never taken; in one zone, never more nodes are down than its rule allows. */
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

  /** The pod of such a permit was not judged, even where a lagging executor wrote the permit after the pod was gone. */
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
   * |D ∪ U| of G1 without the node itself. A node that broke without the executor knowing may add itself, nothing more:
   *
   * - a node of U that was unknown to the deletion of a node of D;
   * - a node of D that was already broken, which this view does not show.
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
    // The next executor counts by the record alone: a node in flight that the record lacks would count as up.
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
      // Executors may see the spec before anything is revoked.
      if (this.#random(2) === 0) return
    }
    this.#compareAndSwap(this.#home(), revokeRecord(this.#record, holds))
    change.at = 'touch'
  }

  /** F10: every unexecuted permit is withdrawn, then the lower limit is written with the rest; executors continue meanwhile. */
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
   * One release detaches and another takes over. The process may die after each write; then another one repeats the step,
   * perhaps with an older view. Meanwhile no release is in charge, and the template may change.
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

  /** A partition follows the desired nodes; a larger one here equals revoking and opening at once. */
  #settlePartition(): void {
    if (this.#record.state !== 'open' || this.#record.partition === this.#partition()) return
    // Other rules need a revocation first: nothing widens to them.
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

  /** The record's view of the rules in the spec. */
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

/** Rules by which nodes may be taken. */
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

/** Three zones, the third without a name; every third node belongs to a pool that may be excluded. */
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

/** The largest value in force at or after a version of the world. */
function largestSince(entries: readonly { readonly version: number; readonly limit: number }[], version: number): number {
  const later = entries.findIndex((entry) => entry.version > version)
  const from = later === -1 ? entries.length - 1 : Math.max(0, later - 1)
  return Math.max(...entries.slice(from).map(({ limit }) => limit))
}

/** Updates since when a node has been without a Ready, standing pod. */
function noteBreak(
  brokenSince: Map<string, number>,
  { node, pod, version }: { readonly node: string; readonly pod: WorldPod | null; readonly version: number },
): void {
  if (pod?.ready === true && !pod.terminating) brokenSince.delete(node)
  else if (!brokenSince.has(node)) brokenSince.set(node, version)
}

/** @param bad a revision that makes every fourth node NotReady while its kubelet keeps running */
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

/** Conditions have timestamps of whole seconds. */
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

/** Desired nodes without a Ready, standing pod in a view; independent of the planner's own count. */
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
