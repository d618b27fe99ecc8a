import type { RecordedDaemonSet, RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRollout } from '../world/stops.ts'
import { bindingOf } from './binding.ts'
import type { Deletion } from '../world/world.ts'
import type { Judge, JudgeParts } from './judge-parts.ts'
import { pinsConfig } from '../world/pins.ts'
import { createReportedFailures } from '../world/reported-failures.ts'
import { actionOf, type RecordedAction } from '../world/recorded-action.ts'

/** Number of blocked revisions that a Rollout remembers. */
const MOST_HELD = 10

/**
 * G12: a template is rolled back when we replace it, or when its abort is accepted. So is one that users read as failed, when they replace it.
 * From then on no permit for it is given and used, whatever hash it returns under and whatever a status remembers. A retry of it ends that. So
 * does a rollback that puts it back, also where a user had created the DaemonSet again with it. The same holds once the status reports a
 * revision as blocked. On a retry the status forgets one blocked revision. It forgets others only when ten newer ones follow, or when it blocks
 * the revision being released and so returns to the stable one.
 */
export function createMemoryJudge(parts: JudgeParts): Judge {
  return new MemoryJudge(parts)
}

type Held = NonNullable<NonNullable<RecordedRollout['status']>['heldRevisions']>[number]

class MemoryJudge implements Judge {
  readonly #parts: JudgeParts
  /** Rollout → id of the retry without an answer so far. Blocked revisions may be forgotten with its answer, and no later. */
  readonly #retries = new Map<string, string>()
  /** Rollout and id of each abort that a user asked for. */
  readonly #aborts = new Set<string>()
  /** Digest → when a status first reported it as blocked. */
  readonly #heldSince = new Map<string, number>()
  /** DaemonSet → digest and time of each template that was rolled back, oldest first. */
  readonly #rolledBack = new Map<string, Map<string, number>>()
  /** DaemonSet → rolled-back templates lifted by a retry that has no answer so far. */
  readonly #lifted = new Map<string, ReadonlyMap<string, number>>()
  readonly #reported = createReportedFailures()
  /** DaemonSet → failed templates that only a user has replaced: a rollback may put them back. */
  readonly #replaced = new Map<string, Set<string>>()
  /** DaemonSet → template that was rolled back, and with which a user created the DaemonSet again. */
  readonly #created = new Map<string, string>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion(deletion: Deletion): void {
    if (!this.#judgeRolledBack(deletion)) this.#judgeHeld(deletion)
  }

  onWrite(write: RecordedWrite, known: Readonly<Record<string, unknown>> | undefined): void {
    if (write.kind === 'DaemonSet') this.#followTemplate(write, known as unknown as RecordedDaemonSet | undefined)
    else this.#reported.follow(write, this.#parts.query.isOurs(write.actor ?? ''))
    if (write.kind !== 'Rollout') return
    if (write.type === 'DELETED') this.#forget(write)
    else if (known !== undefined) this.#followRollout(write, known as unknown as RecordedRollout, write.o as unknown as RecordedRollout)
  }

  #judgeRolledBack({ daemonSet, pod, atMs, permittedMs }: Deletion): boolean {
    const { world, breach } = this.#parts
    const { revision } = daemonSet.orders
    const template = revision === undefined ? undefined : world.templateOf(revision)
    const since = template === undefined ? undefined : this.#rolledBack.get(`${daemonSet.namespace}/${daemonSet.name}`)?.get(template)
    if (since === undefined || (permittedMs ?? atMs) < since) return false
    breach({
      guarantee: 'G12',
      atMs,
      node: pod.node,
      text: `revision ${revision} holds a template that was rolled back, or replaced after it had failed, without a retry since`,
    })
    return true
  }

  #judgeHeld({ daemonSet, pod, atMs, permittedMs }: Deletion): void {
    const { world, breach } = this.#parts
    const rollout = bindingOf(world, daemonSet)
    const { revision } = daemonSet.orders
    const held = rollout?.status?.heldRevisions ?? []
    if (rollout === undefined || revision === undefined || held.length === 0) return
    const template = world.templateOf(revision)
    const same = held.find(
      (one) => one.revision === revision || (template !== undefined && world.templateOf(one.revision ?? '') === template),
    )
    if (same !== undefined && (permittedMs ?? atMs) >= (this.#heldSince.get(same.digest) ?? 0))
      breach({
        guarantee: 'G12',
        atMs,
        node: pod.node,
        text: `revision ${revision} holds the template of blocked revision ${same.revision}`,
      })
  }

  #followTemplate(write: RecordedWrite, before: RecordedDaemonSet | undefined): void {
    const next = write.o as unknown as RecordedDaemonSet
    const key = `${write.namespace}/${next.name}`
    if (write.type === 'ADDED') this.#followCreation(key, next.template ?? '')
    if (before?.template === undefined || write.type === 'DELETED' || before.template === next.template || pinsConfig(before, next)) return
    if (this.#parts.query.isOurs(write.actor ?? '')) {
      this.#rollBack(key, before.template, write.t)
      if (this.#replaced.get(key)?.delete(next.template ?? '') === true) this.#rolledBack.get(key)?.delete(next.template ?? '')
    } else if (this.#rolledBack.get(key)?.has(before.template) === true) {
      // Its pods started on every node without a release.
      if (this.#created.get(key) === before.template) this.#mayPutBack(key, before.template)
    } else if (this.#hasFailed(write, next, before.template)) {
      this.#rollBack(key, before.template, write.t)
      this.#mayPutBack(key, before.template)
    }
  }

  #followCreation(key: string, template: string): void {
    if (this.#rolledBack.get(key)?.has(template) === true) this.#created.set(key, template)
    else this.#created.delete(key)
  }

  #mayPutBack(key: string, template: string): void {
    this.#replaced.set(key, (this.#replaced.get(key) ?? new Set()).add(template))
  }

  /** Whether users read that this template has failed. */
  #hasFailed({ namespace, t }: RecordedWrite, { name }: RecordedDaemonSet, template: string): boolean {
    const { world } = this.#parts
    const story = world.story(namespace, name)
    const rollout = story === undefined ? undefined : bindingOf(world, story)
    const revision = rollout === undefined ? undefined : this.#reported.revisionAt(`${namespace}/${rollout.metadata.name}`, t)
    return revision !== undefined && world.templateOf(revision) === template
  }

  /** The deleted Rollout took its memory with it. */
  #forget(write: RecordedWrite): void {
    for (const one of this.#aborts) if (one.startsWith(`${keyOf(write)} `)) this.#aborts.delete(one)
    this.#retries.delete(keyOf(write))
    this.#rolledBack.delete(`${write.namespace}/${(write.o as unknown as RecordedRollout).spec.workloadRef?.name}`)
  }

  #followRollout(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    this.#followActions(write, before, next)
    for (const { digest } of next.status?.heldRevisions ?? []) if (!this.#heldSince.has(digest)) this.#heldSince.set(digest, write.t)
    if (this.#parts.query.isOurs(write.actor ?? '')) return this.#judgeForgetting(write, before, next)
    const action = actionOf(next)
    if (isAbort(next)) this.#aborts.add(`${keyOf(write)} ${action?.id ?? GENERATED}`)
    if (action?.type === 'retry' && action.id !== actionOf(before)?.id) this.#retries.set(keyOf(write), action.id)
  }

  /** A retry lifts rolled-back templates until it is answered. */
  #followActions(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const { world, query } = this.#parts
    const key = `${write.namespace}/${next.spec.workloadRef?.name}`
    const { lastAction } = next.status ?? {}
    const action = actionOf(next)
    if (!query.isOurs(write.actor ?? '')) {
      if (action?.type !== 'retry' || action.id === actionOf(before)?.id) return
      this.#lifted.set(key, new Map([...(this.#lifted.get(key) ?? []), ...(this.#rolledBack.get(key) ?? [])]))
      this.#rolledBack.delete(key)
    } else if (lastAction !== undefined && lastAction.id !== before.status?.lastAction?.id) {
      if (lastAction.type === 'retry') this.#answerRetry(key, lastAction.result, action?.id === lastAction.id ? action : undefined)
      if (lastAction.type === 'abort' && lastAction.result === 'Accepted')
        this.#rollBack(key, world.templateOf(before.status?.canaryStatus?.canaryRevision ?? ''), write.t)
    }
  }

  /** A retry that is accepted lifts the template that it names, or the present one. Once another action was asked for, which one is not known. */
  #answerRetry(key: string, result: string | undefined, action: RecordedAction | undefined): void {
    const lifted = this.#lifted.get(key) ?? new Map<string, number>()
    this.#lifted.delete(key)
    if (result !== 'Refused' && action === undefined) return
    const [namespace, name = ''] = key.split('/')
    const { world } = this.#parts
    const named = action?.revision === undefined ? world.story(namespace, name)?.latest?.template : world.templateOf(action.revision)
    for (const [template, t] of lifted)
      if (result === 'Refused' || (named !== undefined && template !== named)) this.#rollBack(key, template, t)
  }

  #rollBack(key: string, template: string | undefined, t: number): void {
    if (template === undefined) return
    const own = this.#rolledBack.get(key) ?? new Map<string, number>()
    this.#rolledBack.set(key, own)
    if (!own.has(template)) own.set(template, t)
    const [oldest] = own.keys()
    if (own.size > MOST_HELD && oldest !== undefined) own.delete(oldest)
  }

  #judgeForgetting(write: RecordedWrite, before: RecordedRollout, next: RecordedRollout): void {
    const retry = this.#retries.get(keyOf(write))
    const answer = next.status?.lastAction
    if (retry !== undefined && answer?.id === retry) this.#retries.delete(keyOf(write))
    const isAsked = retry !== undefined && (answer?.id !== retry || answer.result === undefined || answer.result === 'Accepted')
    const was = before.status?.heldRevisions ?? []
    const is = new Set((next.status?.heldRevisions ?? []).map(({ digest }) => digest))
    const forgotten = was.filter((one) => !is.has(one.digest) && !this.#isReturnedTo(keyOf(write), one, before, next))
    const mostForgotten = isAsked ? 1 : 0
    const names = [...new Set(forgotten.map(({ revision, digest }) => revision ?? digest))]
    if (names.length <= mostForgotten || is.size >= MOST_HELD) return
    const why = isAsked ? 'for a retry, which unblocks one' : 'without a retry'
    const text = `${write.actor} removed blocked revisions ${names.join(', ')} from the status ${why}`
    this.#parts.breach({ guarantee: 'G12', atMs: write.t, text })
  }

  /** Whether the same write blocks the revision being released: that puts the template of the stable one back, whatever hash it has by now. */
  #isReturnedTo(key: string, { revision }: Held, was: RecordedRollout, is: RecordedRollout): boolean {
    const { canaryRevision, stableRevision } = was.status?.canaryStatus ?? {}
    const blocks = ({ status }: RecordedRollout): boolean => status?.heldRevisions?.some((one) => one.revision === canaryRevision) ?? false
    const isNew = !blocks(was) || this.#hasAborted(key, was, is)
    return this.#isSame(revision, stableRevision) && !this.#isSame(canaryRevision, stableRevision) && blocks(is) && isNew
  }

  /**
   * Whether the write accepts an abort that a user asked for. That of a blocked template which was applied again returns to the stable one, as
   * the first did.
   */
  #hasAborted(key: string, { status: before }: RecordedRollout, { status: next }: RecordedRollout): boolean {
    const { id, type, result } = next?.lastAction ?? {}
    const asked = id?.startsWith(GENERATED) === true ? GENERATED : id
    return id !== before?.lastAction?.id && type === 'abort' && result === 'Accepted' && this.#aborts.has(`${key} ${asked}`)
  }

  #isSame(revision: string | undefined, other: string | undefined): boolean {
    const { world } = this.#parts
    const template = world.templateOf(revision ?? '')
    return revision === other || (template !== undefined && template === world.templateOf(other ?? ''))
  }
}

/** Start of the ids of actions that a user wrote without one. */
const GENERATED = 'auto-'

function isAbort({ metadata }: RecordedRollout): boolean {
  return /"type":\s*"abort"/.test(metadata.annotations?.['tranche.dev/action'] ?? '')
}

function keyOf({ namespace, o }: RecordedWrite): string {
  return `${namespace}/${(o as unknown as RecordedRollout).metadata.name}`
}
