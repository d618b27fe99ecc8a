import {
  type CheckPurpose,
  checkWords,
  type NodeCheck,
  type NodeQuestion,
  type NodeReading,
  type NodeWords,
  permitId,
  type Preparation,
  preparationId,
  type Preparations,
  type PreparedNode,
} from '@tranche/fence'
import { clipText } from '@tranche/kube-types'

/** Delay before a blocked node is checked again, in milliseconds: doubles each time, so that many such nodes cost little. */
const FIRST_AGAIN_MS = 15_000
const LONGEST_AGAIN_MS = 300_000

/** Time after which something on a node is undone or renewed again if a watch still shows it as before, in milliseconds. */
const ATTEMPT_AGAIN_MS = 10_000

/** Time in which each question failed, after which work on a node is given up, in milliseconds. */
const UNANSWERED_MS = 60_000

/** Delay before a node is asked again meanwhile, in milliseconds. */
const UNANSWERED_AGAIN_MS = 5_000

/** Maximum length of the words about a node: errors of proxies are pages, and the record has ten of them. */
const WORDS_MAX = 512

/**
 * Answers of the checks of nodes. Saves requests; no guarantee depends on it, because a forgotten node is checked again. It holds the nodes
 * that were due in the release of one revision.
 */
export interface NodeReadings {
  /** Records what a check of a node answered at `atMs` (monotonic). */
  add(question: NodeQuestion, purpose: CheckPurpose, check: NodeCheck, atMs: number): void
  /**
   * Records that a node could not be checked at `atMs` (monotonic). Work that was under way for the same permit continues: it is asked about again,
   * and given up only after a minute in which each question failed.
   *
   * @param why for people
   */
  failed(question: NodeQuestion, purpose: CheckPurpose, why: NodeWords, atMs: number): void
  /** The record has the words of all readings so far. */
  recorded(): void
  /** What this process undoes. A renewal of it a moment ago delays no undo. */
  readonly undone: Attempts
  /** What this process renews. */
  readonly renewed: Attempts
  /**
   * @param asked what the nodes are checked for, as a text: the revision, and the rules of the policy
   * @returns the readings made for this, by node name; those for another one are forgotten, and so are those that wait for something
   *   whose state has changed since. Long work on a node without a reading counts as one, which is due at once.
   */
  of(asked: string | undefined, prepared: Preparations | undefined, monotonicMs: number): ReadonlyMap<string, NodeReading>
}

/** Attempts of one kind on preparations. */
export interface Attempts {
  /** Records an attempt at `atMs` (monotonic). */
  add(prepared: PreparedNode, atMs: number): void
  /** @returns the ids of the preparations with an attempt a short time ago */
  lately(monotonicMs: number): ReadonlySet<string>
}

type Known = NodeReading & {
  /** State of what was done on the node after the reading; undefined until the next pass. */
  readonly state?: string
}

/** Creates an empty memory of readings. */
export function createNodeReadings(): NodeReadings {
  const known = new Map<string, Known>()
  const delays = createDelays()
  /** Last answers for permits whose nodes have work under way; since when (monotonic) each question has failed, null after an answer. */
  const underWay = new Map<string, { readonly reading: Known; readonly failingFromMs: number | null }>()
  let knownAsked: string | undefined

  function add({ node, permit }: NodeQuestion, purpose: CheckPurpose, found: NodeCheck, atMs: number): void {
    const before = known.get(node)
    const check = shortened(found)
    const words = checkWords(check)
    const isNews = words !== null && (!isSame(words, before?.check) || before?.isNews === true)
    const againAtMs = atMs + delays.after(node, purpose, check)
    const ofPermit = permit !== undefined && { permitId: permitId(permit) }
    const reading = { check, purpose, ...ofPermit, readAtMs: atMs, againAtMs, isNews }
    known.set(node, reading)
    if (check.kind === 'pending' && permit !== undefined) underWay.set(node, { reading, failingFromMs: null })
    else underWay.delete(node)
  }

  return {
    undone: createAttempts(),
    renewed: createAttempts(),
    add,
    failed(question, purpose, why, atMs) {
      const { node, permit } = question
      const work = underWay.get(node)
      const failingFromMs = work?.failingFromMs ?? atMs
      const isOfPermit = permit !== undefined && work?.reading.permitId === permitId(permit)
      if (work === undefined || !isOfPermit || atMs - failingFromMs >= UNANSWERED_MS)
        return add(question, purpose, { kind: 'blocked', ...why }, atMs)
      const { reading } = work
      underWay.set(node, { reading, failingFromMs })
      known.set(node, { ...reading, isNews: known.get(node)?.isNews ?? reading.isNews, againAtMs: atMs + UNANSWERED_AGAIN_MS })
    },
    recorded() {
      for (const [node, reading] of known) known.set(node, { ...reading, isNews: false })
    },
    of(asked, prepared, monotonicMs) {
      if (asked !== knownAsked) {
        known.clear()
        delays.clear()
        underWay.clear()
      }
      knownAsked = asked
      if (prepared === undefined) return known
      forgetChanged(known, prepared)
      for (const work of [...prepared.values()].flat()) addLongWork(known, work, monotonicMs)
      return known
    },
  }
}

/** Delays after which nodes are checked again, in milliseconds. */
interface Delays {
  /** @returns the delay after this answer. A preparation between two failures does not shorten it, whether it takes time or succeeds */
  after(node: string, purpose: CheckPurpose, check: NodeCheck): number
  clear(): void
}

function createDelays(): Delays {
  /** Last delays of nodes that were blocked since they were last ready. */
  const delays = new Map<string, number>()
  return {
    after(node, purpose, check) {
      if (check.kind === 'ready' && purpose !== 'ahead') delays.delete(node)
      if (check.kind !== 'blocked') return check.kind === 'pending' ? check.againInMs : FIRST_AGAIN_MS
      const before = delays.get(node)
      const delayMs = before === undefined ? FIRST_AGAIN_MS : Math.min(LONGEST_AGAIN_MS, 2 * before)
      delays.set(node, delayMs)
      return check.againInMs ?? delayMs
    },
    clear: () => delays.clear(),
  }
}

function createAttempts(): Attempts {
  const attempts = new Map<string, number>()
  return {
    add(prepared, atMs) {
      attempts.set(preparationId(prepared), atMs)
    },
    lately(monotonicMs) {
      for (const [id, atMs] of attempts) if (monotonicMs - atMs >= ATTEMPT_AGAIN_MS) attempts.delete(id)
      return new Set(attempts.keys())
    },
  }
}

/** A pending reading is worth nothing once what it waits for has another state. */
function forgetChanged(known: Map<string, Known>, prepared: Preparations): void {
  for (const [node, reading] of known) {
    if (reading.check.kind !== 'pending') continue
    const state = (prepared.get(node) ?? []).map((one) => `${one.check} ${one.state}`).join()
    if (reading.state === undefined) known.set(node, { ...reading, state })
    else if (reading.state !== state) known.delete(node)
  }
}

/** The checks are not asked about work that was begun ahead before its state changes. */
function addLongWork(known: Map<string, Known>, { node, waits }: Preparation, monotonicMs: number): void {
  if (waits === undefined || monotonicMs < waits.fromMs) return
  const before = known.get(node)
  if (before === undefined) {
    const check = shortened({ kind: 'pending', againInMs: 0, waits })
    known.set(node, { check, purpose: 'ahead', readAtMs: monotonicMs, againAtMs: monotonicMs, isNews: true })
  } else if (before.check.kind === 'pending' && before.check.waits === undefined)
    known.set(node, { ...before, check: shortened({ ...before.check, waits }), isNews: true })
}

function shortened(check: NodeCheck): NodeCheck {
  if (check.kind === 'blocked') return { ...check, message: clipText(check.message, WORDS_MAX) }
  if (check.kind === 'ready' || check.waits === undefined) return check
  return { ...check, waits: { ...check.waits, message: clipText(check.waits.message, WORDS_MAX) } }
}

function isSame({ reason, message }: NodeWords, before: NodeCheck | undefined): boolean {
  const words = before && checkWords(before)
  return words?.reason === reason && words.message === message
}
