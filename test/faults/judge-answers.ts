import type { RecordedAction } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'
import type { RecordedDaemonSet, RecordedPod, RecordedRevision, RecordedWrite } from '@tranche/recording'
import type { Asked } from './callers.ts'
import type { Violation } from './judge.ts'

/**
 * Compares the actions over REST with the writes.
 *
 * Each action is carried out once (G7). An answered action is not lost, and not dropped from the record before its time (G7). Each is
 * carried out at the step and for the revision that it was meant for (G10). An answered pause or abort holds until a user lifts it (G9).
 * A change outside Tranche is reported once, and no action of the API is reported as such (G7).
 *
 * The judge knows records and statuses from their documentation, and shares no code with the programs that write them.
 *
 * @param writes everything that the API server accepted
 * @param asked requests to the API, with their answers
 */
export function findBrokenAnswers(writes: readonly RecordedWrite[], asked: readonly Asked[]): readonly Violation[] {
  const found: Violation[] = []
  const breach = (guarantee: string, atMs: number, text: string): void => void found.push({ guarantee, atMs, text })
  const story = createStory(breach)
  const answers = asked.flatMap((one) => (one.outcome.kind === 'answered' ? [{ ...one, ...one.outcome }] : []))
  const waiting = answers.toSorted((a, b) => a.atMs - b.atMs)
  for (const write of writes) {
    while (waiting[0] !== undefined && waiting[0].atMs < write.t) story.answered(waiting.shift()!)
    story.apply(write)
  }
  for (const one of waiting) story.answered(one)
  for (const { key, type, sentMs, outcome, faults } of asked) {
    const codes = [...faults, ...('code' in outcome ? [outcome.code] : [])]
    const wrong = codes.find((code) => neverSaid.some((never) => never === code))
    if (wrong !== undefined) breach('G7', sentMs, `the ${type} ${key} was answered with ${wrong}`)
  }
  return found
}

/** Codes that report a fault in our program, or deny rights to a user who has all of them. */
const neverSaid: readonly ErrorCode[] = ['INVARIANT_BROKEN', 'ACCESS_DENIED', 'TOKEN_INVALID']

/** Maximum number of actions that an object keeps on its record. */
const MOST_RECORDED = 16

type Breach = (guarantee: string, atMs: number, text: string) => void
type Answered = Asked & Extract<Asked['outcome'], { readonly kind: 'answered' }>

/** An action on the record of an object, and the time when it was recorded. */
interface Recorded {
  readonly record: RecordedAction
  readonly atMs: number
}

/** The members that this judge reads. */
interface SeenRollout {
  readonly metadata: { readonly annotations?: Annotations; readonly deletionTimestamp?: string }
  readonly spec: { readonly disabled?: boolean; readonly strategy?: { readonly paused?: boolean } }
  readonly status?: {
    readonly canaryStatus?: { readonly currentStepIndex?: number; readonly currentStepState?: string; readonly canaryRevision?: string }
    readonly lastAction?: { readonly id: string; readonly type?: string; readonly result?: string }
    readonly answeredActions?: readonly string[]
  }
}

type Annotations = Readonly<Record<string, string>>

interface Story {
  apply(write: RecordedWrite): void
  /** Takes an answer that a caller has received after all writes applied so far. */
  answered(answer: Answered): void
}

function createStory(breach: Breach): Story {
  const rollouts = new Map<string, SeenRollout>()
  const daemonSets = new Map<string, RecordedDaemonSet>()
  /** Digests of templates, by namespace, owner, and hash or number. */
  const templates = new Map<string, string>()
  const recorded = new Map<string, Recorded>()
  const acted = new Set<string>()
  const writers = new Map<number, string>()
  let pausedSinceMs: number | null = null
  /** The answer that promises that no pod is deleted. */
  let pause: Answered | null = null
  /** The revision that was aborted, and the id of the action. */
  let aborted: { readonly revision: string; readonly id: string } | null = null

  function applyRollout(write: RecordedWrite): void {
    const { uid = '', t, type, actor = '' } = write
    const next = write.o as unknown as SeenRollout
    const before = rollouts.get(uid)
    writers.set(write.rv, actor)
    if (type === 'DELETED') rollouts.delete(uid)
    else rollouts.set(uid, next)
    const isStopped = type !== 'DELETED' && next.metadata.deletionTimestamp === undefined && next.spec.disabled !== true
    if (!isStopped || next.spec.strategy?.paused !== true) pausedSinceMs = pause = null
    else pausedSinceMs ??= t
    if (!isStopped) aborted = null
    if (type === 'DELETED') return
    takeRecords(write, { before: before?.metadata.annotations, after: next.metadata.annotations }, (record) =>
      judgeMeant(record, before, t),
    )
    takeObservedChanges(write, next.metadata.annotations)
    const { lastAction, answeredActions = [] } = next.status ?? {}
    for (const id of answeredActions) acted.add(id)
    if (lastAction !== undefined && lastAction.id !== before?.status?.lastAction?.id) takeAnswer(lastAction, { before, next, t })
  }

  function applyDaemonSet(write: RecordedWrite): void {
    const { uid = '', actor = '' } = write
    const next = write.o as unknown as RecordedDaemonSet
    const before = daemonSets.get(uid)
    writers.set(write.rv, actor)
    if (write.type === 'DELETED') return void daemonSets.delete(uid)
    daemonSets.set(uid, next)
    if (next.template !== before?.template && !isOurs(actor)) aborted = null
    takeRecords(write, { before: before?.annotations, after: next.annotations }, (record) =>
      judgeUndo(record, `${write.namespace}/${uid}`, { before, next, t: write.t }),
    )
  }

  function takeRecords(
    { t, type, actor }: RecordedWrite,
    { before, after }: { readonly before: Annotations | undefined; readonly after: Annotations | undefined },
    judge: (record: RecordedAction) => void,
  ): void {
    const [was, is] = [recordsIn(before), recordsIn(after)]
    const added = is.filter(({ id }) => was.every((one) => one.id !== id))
    const kept = was.slice(Math.max(0, was.length + added.length - MOST_RECORDED))
    const lost = kept.filter(({ id }) => is.every((one) => one.id !== id))
    for (const { id, type: what } of lost) breach('G7', t, `${actor} took ${what} (${id}) from the record before its time`)
    if (type === 'ADDED') return
    for (const record of added) {
      if (recorded.has(record.id)) breach('G7', t, `${record.type} (${record.id}) was written a second time, by ${actor}`)
      else recorded.set(record.id, { record, atMs: t })
      judge(record)
    }
  }

  /** The id of an observed change names the version in which it was observed. */
  function takeObservedChanges({ t, actor }: RecordedWrite, annotations: Annotations | undefined): void {
    const seen = listIn<{ readonly id: string; readonly manager?: string }>(annotations?.[SEEN])
    const ids = seen.map(({ id }) => id)
    const twice = ids.find((id, at) => ids.indexOf(id) !== at)
    if (twice !== undefined) breach('G7', t, `${actor} reports ${twice} twice`)
    for (const { id, manager } of seen) {
      const writer = writers.get(Number(id.split('-')[1])) ?? ''
      if (manager === 'tranche-api' && writer.startsWith('api-'))
        breach('G7', t, `${actor} reports the action of ${writer} as a change outside Tranche (${id})`)
    }
  }

  /** An action is written only at the step and the revision that the user saw. */
  function judgeMeant(record: RecordedAction, before: SeenRollout | undefined, atMs: number): void {
    const why = elsewhere(record, before)
    if (why !== null) breach('G10', atMs, `${record.type} (${record.id}) was written though ${why}`)
  }

  function takeAnswer(
    { id, type, result }: NonNullable<NonNullable<SeenRollout['status']>['lastAction']>,
    { before, next, t }: { readonly before: SeenRollout | undefined; readonly next: SeenRollout; readonly t: number },
  ): void {
    acted.add(id)
    const { record } = recorded.get(id) ?? {}
    if (result !== 'Accepted') return
    const { currentStepIndex: index = 0, canaryRevision } = before?.status?.canaryStatus ?? {}
    const kind = record?.type ?? type
    if (kind === 'abort' && canaryRevision !== undefined) aborted = { revision: canaryRevision, id }
    else if (kind === 'retry') aborted = null
    if (record === undefined) return
    const why = elsewhere(record, before)
    if (why !== null) return breach('G10', t, `${record.type} (${id}) was accepted though ${why}`)
    const { currentStepIndex: now = index } = next.status?.canaryStatus ?? {}
    if (record.type === 'approve' && now !== index && now !== index + 1)
      breach('G10', t, `${record.type} (${id}) of step ${index} led to step ${now}`)
  }

  function judgeUndo(
    { type, id, toRevision }: RecordedAction,
    owner: string,
    { before, next, t }: { readonly before: RecordedDaemonSet | undefined; readonly next: RecordedDaemonSet; readonly t: number },
  ): void {
    if (type !== 'undo') return
    if (next.template === before?.template) breach('G7', t, `the undo (${id}) has changed nothing`)
    const wanted = toRevision === undefined ? undefined : templates.get(`${owner} ${toRevision}`)
    if (wanted !== undefined && wanted !== next.template)
      breach('G10', t, `the undo (${id}) to ${toRevision} has restored another template`)
  }

  /** A revision in another namespace does not belong to the DaemonSet, whatever owner it names. */
  function applyRevision({ namespace, o }: RecordedWrite): void {
    const { ownerUid = '', hash = '', revision = 0, template } = o as unknown as RecordedRevision
    if (template === undefined) return
    templates.set(`${namespace}/${ownerUid} ${hash}`, template)
    templates.set(`${namespace}/${ownerUid} ${revision}`, template)
  }

  /** G9 is about pods of DaemonSets: a helper pod, in which nothing runs, goes when its release stops. */
  function judgeDeletion({ t, actor, o }: RecordedWrite): void {
    if ((o as unknown as RecordedPod).helper !== undefined) return
    const pod = `pod ${String(o['name'])}, deleted by ${actor}`
    if (pause !== null) breach('G9', t, `${pod}, though the pause ${pause.key} was answered and no user has lifted it`)
    const canary = [...daemonSets.values()].map(({ annotations }) => annotations?.[CANARY])
    if (aborted !== null && canary.includes(aborted.revision))
      breach('G9', t, `${pod} for ${aborted.revision}, though ${aborted.id} has aborted it`)
  }

  return {
    apply(write) {
      if (write.kind === 'Rollout') applyRollout(write)
      else if (write.kind === 'DaemonSet') applyDaemonSet(write)
      else if (write.kind === 'ControllerRevision') applyRevision(write)
      else if (write.kind === 'Pod' && write.verb === 'delete' && isOurs(write.actor ?? '')) judgeDeletion(write)
    },
    answered(one) {
      const { key, type, body, atMs, answer } = one
      const { record, atMs: writtenMs = atMs } = recorded.get(answer.id) ?? {}
      const report = (text: string): void => breach('G7', atMs, `the ${type} ${key} was answered ${answer.state}, and ${text}`)
      if (record === undefined) return report('is not on the record')
      const other = members.find((member) => record[member] !== body[member])
      if (record.type !== type) report(`was recorded as ${record.type}`)
      else if (other !== undefined) report(`was recorded with ${other} ${record[other]}, not ${body[other]}`)
      if (answer.state !== 'acknowledged') return
      if (isAction(record) && !acted.has(answer.id)) report('no controller had acted on it')
      if (type === 'pause' && pausedSinceMs !== null && pausedSinceMs <= writtenMs) pause = one
    },
  }
}

const RECORDED = 'tranche.dev/recorded-actions'
const SEEN = 'tranche.dev/observed-changes'
const CANARY = 'rollouts.kruise.io/daemonset-canary-revision'
const members = ['expectedStep', 'revision', 'step', 'toRevision', 'reason'] as const

function isOurs(actor: string): boolean {
  return /^(controller|executor)-/.test(actor)
}

/**
 * Whether the action is written into the annotation `tranche.dev/action` and answered in the status. A resume is one only after a verdict
 * has stopped the release.
 */
function isAction({ type }: RecordedAction): boolean {
  return ['approve', 'jump', 'promote', 'abort', 'retry'].includes(type)
}

/** @returns why an action does not fit the present step and revision; null if it fits */
function elsewhere({ type, expectedStep, revision }: RecordedAction, rollout: SeenRollout | undefined): string | null {
  if (!isAction({ type } as RecordedAction) || type === 'retry') return null
  const { currentStepIndex, currentStepState, canaryRevision } = rollout?.status?.canaryStatus ?? {}
  if (expectedStep !== undefined && expectedStep !== currentStepIndex)
    return `it is meant for step ${expectedStep} and the release is at ${currentStepIndex}`
  if (revision !== undefined && revision !== canaryRevision) return `it is meant for revision ${revision} and ${canaryRevision} is released`
  return type === 'approve' && currentStepState !== 'StepPaused' ? `the step was ${currentStepState}` : null
}

function recordsIn(annotations: Annotations | undefined): readonly RecordedAction[] {
  return listIn<RecordedAction>(annotations?.[RECORDED])
}

function listIn<T>(text: string | undefined): readonly T[] {
  return text === undefined ? [] : (JSON.parse(text) as readonly T[])
}
