import type { RecordedAction } from '@tranche/api-schema'
import type { RecordedDaemonSet, RecordedRevision, RecordedWrite } from '@tranche/recording'
import type { Asked } from './callers.ts'

/** State of the cluster from one write to the next. */
export interface Moment {
  /** Epoch milliseconds by the recording's clock. */
  readonly fromMs: number
  readonly rollout: SeenBinding | undefined
  readonly daemonSet: RecordedDaemonSet | undefined
  /** By name, of the DaemonSet and of any other. */
  readonly revisions: ReadonlyMap<string, RecordedRevision>
  /** When a user last wrote a restart into the template; undefined before the first. */
  readonly restartedMs: number | undefined
  /** Digests of templates that the DaemonSet has had. */
  readonly had: ReadonlySet<string>
  /** Digests of templates that a controller has replaced, or that a user has aborted. */
  readonly rolledBack: ReadonlySet<string>
}

/** Members of a Rollout that show which DaemonSet it is bound to. */
interface SeenBinding {
  readonly metadata: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> }
}

/** @returns the state of the cluster after each write that an undo or a restart may depend on, in order */
export function momentsOf(writes: readonly RecordedWrite[]): readonly Moment[] {
  const moments: Moment[] = []
  let last: Moment = {
    fromMs: Number.NEGATIVE_INFINITY,
    rollout: undefined,
    daemonSet: undefined,
    revisions: new Map(),
    restartedMs: undefined,
    had: new Set(),
    rolledBack: new Set(),
  }
  for (const write of writes) {
    const next = after(last, write)
    if (next !== last) moments.push((last = { ...next, fromMs: write.t }))
  }
  return moments
}

function after(moment: Moment, { kind, type, o, actor = '', t }: RecordedWrite): Moment {
  const isGone = type === 'DELETED'
  switch (kind) {
    case 'Rollout': {
      const rollout = o as unknown as SeenBinding
      const isAborted = actionIn(rollout) === 'abort' && actionIn(moment.rollout) !== 'abort'
      const { template } = moment.daemonSet ?? {}
      const rolledBack = isAborted ? withOne(moment.rolledBack, template) : moment.rolledBack
      return { ...moment, rollout: isGone ? undefined : rollout, rolledBack }
    }
    case 'DaemonSet': {
      const daemonSet = o as unknown as RecordedDaemonSet
      const before = moment.daemonSet?.template
      const isReplaced = actor.startsWith('controller-') && daemonSet.template !== before
      const isRestarted = newRecords(moment.daemonSet, daemonSet).some((record) => record.type === 'restart')
      return {
        ...moment,
        daemonSet: isGone ? undefined : daemonSet,
        had: withOne(moment.had, daemonSet.template),
        rolledBack: isReplaced ? withOne(moment.rolledBack, before) : moment.rolledBack,
        restartedMs: isRestarted ? t : moment.restartedMs,
      }
    }
    case 'ControllerRevision': {
      const revision = o as unknown as RecordedRevision
      const revisions = new Map(moment.revisions)
      if (isGone) revisions.delete(revision.name)
      else revisions.set(revision.name, revision)
      return { ...moment, revisions }
    }
    default:
      return moment
  }
}

function withOne(all: ReadonlySet<string>, one: string | undefined): ReadonlySet<string> {
  return one === undefined || all.has(one) ? all : new Set([...all, one])
}

function actionIn(rollout: SeenBinding | undefined): string | undefined {
  const text = rollout?.metadata.annotations?.['tranche.dev/action']
  return text === undefined ? undefined : (JSON.parse(text) as { readonly type?: string }).type
}

function recordsOf(daemonSet: RecordedDaemonSet | undefined): readonly RecordedAction[] {
  const text = daemonSet?.annotations?.['tranche.dev/recorded-actions']
  return text === undefined ? [] : (JSON.parse(text) as readonly RecordedAction[])
}

function newRecords(before: RecordedDaemonSet | undefined, daemonSet: RecordedDaemonSet): readonly RecordedAction[] {
  if (before?.annotations?.['tranche.dev/recorded-actions'] === daemonSet.annotations?.['tranche.dev/recorded-actions']) return []
  const known = new Set(recordsOf(before).map(({ id }) => id))
  return recordsOf(daemonSet).filter(({ id }) => !known.has(id))
}

/**
 * Whether the user's objects and the state of the cluster gave a reason to refuse an undo or a restart. Our status gives none, except the
 * step, for an action that names a step. An action that is already on the record cannot be refused: it was carried out.
 *
 * @param moments from the one at which it was sent to the one at which it was refused
 */
export function mayRefuseTemplate(moments: readonly Moment[], asked: Asked, code: string): boolean {
  const open = moments.filter(({ daemonSet }) => !isWritten(daemonSet, asked))
  if (asked.type === 'undo' && code === 'MOVED_ON' && isChangedMeanwhile(open)) return true
  // A program reads the DaemonSet before its history, which is deleted with it.
  if (asked.type === 'undo' && code === 'ACTION_REJECTED' && open.some(({ daemonSet }) => daemonSet === undefined)) return true
  return open.some((moment) => codesAt(moment, asked).includes(code))
}

function isWritten(daemonSet: RecordedDaemonSet | undefined, { type, key }: Asked): boolean {
  return recordsOf(daemonSet).some((record) => record.type === type && record.reason === key)
}

/** An undo goes from one template to another, and not from a third one that came in between. */
function isChangedMeanwhile(moments: readonly Moment[]): boolean {
  return new Set(moments.map(({ daemonSet }) => `${daemonSet?.uid} ${daemonSet?.template}`)).size > 1
}

/** @returns the codes with which the action may be refused at this moment */
function codesAt(moment: Moment, asked: Asked): readonly string[] {
  const { rollout, daemonSet } = moment
  if (rollout === undefined) return ['ROLLOUT_NOT_FOUND']
  if (daemonSet === undefined) return ['WORKLOAD_NOT_FOUND']
  if (daemonSet.annotations?.['tranche.dev/rollout'] !== rollout.metadata.name) return ['NOT_BOUND']
  return asked.type === 'undo' ? codesOfUndo(moment, daemonSet, asked) : codesOfRestart(moment, asked)
}

function codesOfUndo(
  { revisions, had, rolledBack }: Moment,
  { uid, template }: RecordedDaemonSet,
  { body: { revision, toRevision = '0' } }: Asked,
): readonly string[] {
  const own = [...revisions.values()].filter(({ ownerUid }) => ownerUid === uid)
  if (revision !== undefined && !own.some((one) => one.hash === revision && one.template === template)) return ['MOVED_ON']
  // The DaemonSet controller has not created a revision of the present template yet.
  if (!own.some((one) => one.template === template)) return ['ACTION_REJECTED']
  if (toRevision === '0') {
    const others = own.filter((one) => one.template !== template)
    return others.every((one) => one.template === undefined || rolledBack.has(one.template)) ? ['ACTION_REJECTED'] : []
  }
  const target = own.find(({ hash }) => hash === toRevision) ?? own.find((one) => String(one.revision) === toRevision)
  if (target === undefined) return ['REVISION_NOT_FOUND']
  const isForged = target.template === undefined || !had.has(target.template)
  return isForged || target.template === template ? ['ACTION_REJECTED'] : []
}

/** Two restarts within one second would write the same template. */
function codesOfRestart({ restartedMs }: Moment, { sentMs }: Asked): readonly string[] {
  return restartedMs !== undefined && restartedMs > sentMs - SECOND_MS ? ['ACTION_REJECTED'] : []
}

const SECOND_MS = 1_000
