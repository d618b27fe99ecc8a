import type { RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { Cause } from '../../world/observations.ts'
import type { RecordedRelease } from '../../world/stops.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'

/**
 * G13: of the DaemonSets of a group, one is released at a time. While one has an open record, or a node that our deletions have left without an
 * available pod, no other record opens and we delete no other pod.
 *
 * Judged by the groups that BatchReleases name and by the pods, not by Leases. A record that was open when its release joined the group does
 * not count until it opens again. Nor does a release that waits for nodes left behind, or is being deleted, or whose DaemonSet was deleted,
 * until its record opens again.
 */
export function createGroupJudge(parts: JudgeParts): Judge {
  return new GroupJudge(parts)
}

/** A release that exists. */
interface Member {
  readonly story: DaemonSetStory
  readonly uid: string | undefined
  readonly group: string
  /** When its record was opened; null while it is not open. */
  readonly openedMs: number | null
  /** Whether its record has been opened since it joined. */
  readonly hasOpened: boolean
  readonly isExcused: boolean
  /** Whether its DaemonSet was deleted since its record was opened: no node of it comes back by then, and none goes down. */
  readonly lostDaemonSet: boolean
  /** Write by which it joined the group; null where it was created in it. */
  readonly joined: Cause | null
}

class GroupJudge implements Judge {
  readonly #parts: JudgeParts
  /** By namespace and name of the BatchRelease. */
  readonly #members = new Map<string, Member>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion({ daemonSet, atMs, pod }: Parameters<NonNullable<Judge['onDeletion']>>[0]): void {
    const own = [...this.#members.values()].find(({ story }) => story === daemonSet)
    if (own === undefined || !own.hasOpened) return
    for (const other of this.#othersOf(own)) {
      const nodes = nodesInFlight(other)
      if (nodes !== '')
        this.#report(own, `a pod is deleted while ${nameOf(other.story)} of its group is in flight on ${nodes}`, atMs, pod.node)
    }
  }

  onWrite(write: RecordedWrite): void {
    if (write.kind === 'DaemonSet' && write.type === 'DELETED') this.#loseDaemonSet(write)
    if (write.kind !== 'BatchRelease') return
    const key = `${write.namespace}/${String((write.o as RecordedRelease).metadata?.name ?? write.o['name'])}`
    const before = this.#members.get(key)
    const next = write.type === 'DELETED' ? undefined : this.#memberOf(write, before)
    if (next === undefined) this.#members.delete(key)
    else this.#members.set(key, next)
    if (next?.hasOpened === true && next.openedMs === write.t && before?.openedMs !== next.openedMs) this.#judgeOpening(next, write.t)
  }

  #loseDaemonSet({ namespace, o }: RecordedWrite): void {
    for (const [key, member] of this.#members)
      if (member.story.namespace === namespace && member.story.name === o['name'])
        this.#members.set(key, { ...member, lostDaemonSet: true })
  }

  #judgeOpening(own: Member, atMs: number): void {
    for (const other of this.#othersOf(own)) {
      other.story.advance(atMs)
      const nodes = nodesInFlight(other)
      if (other.openedMs !== null) this.#report(own, `its record opens while that of ${nameOf(other.story)} of its group is open`, atMs)
      else if (nodes !== '') this.#report(own, `its record opens while ${nameOf(other.story)} of its group is in flight on ${nodes}`, atMs)
    }
  }

  #othersOf(own: Member): readonly Member[] {
    return [...this.#members.values()].filter(
      (other) =>
        other.story !== own.story && other.group === own.group && other.hasOpened && !other.isExcused && !isWithoutDaemonSet(other),
    )
  }

  #memberOf(write: RecordedWrite, before: Member | undefined): Member | undefined {
    const { metadata, spec, status } = write.o as RecordedRelease
    const name = spec?.tranche?.downtime?.group
    const story = this.#parts.world.story(write.namespace, spec?.workloadRef?.name ?? '')
    if (name === undefined || story === undefined) return undefined
    const isShared = this.#parts.query.sharedGroupNamespaces?.includes(write.namespace ?? '') ?? false
    const group = isShared ? name : `${write.namespace}/${name}`
    const known = before?.group === group && before.uid === write.uid ? before : undefined
    const isOpen = status?.flight?.state === 'open'
    const wasOpen = known === undefined ? isOpen : known.openedMs !== null
    const opens = isOpen && !wasOpen
    const born = write.type === 'ADDED' ? null : { t: write.t, rv: write.rv, of: 'batchreleases' as const }
    const joined = known === undefined ? born : known.joined
    // An opening that was decided before its release joined counts as one of the time before.
    const { observations } = this.#parts
    const hasJoined = known !== undefined && (joined === null || observations.hasSeen(observations.decisionOf(write), joined))
    return {
      ...{ story, uid: write.uid, group, joined },
      openedMs: isOpen ? (opens ? write.t : (known?.openedMs ?? write.t)) : null,
      hasOpened: (opens && hasJoined) || (known?.hasOpened ?? false),
      lostDaemonSet: !opens && known?.lostDaemonSet === true,
      isExcused:
        !isOpen && (metadata?.deletionTimestamp !== undefined || status?.waiting?.reason === 'NodesLeft' || known?.isExcused === true),
    }
  }

  #report(own: Member, what: string, atMs: number, node?: string): void {
    this.#parts.breach({ guarantee: 'G13', atMs, ...(node !== undefined && { node }), text: `${nameOf(own.story)}: ${what}` })
  }
}

function isWithoutDaemonSet({ openedMs, lostDaemonSet }: Member): boolean {
  return lostDaemonSet && openedMs === null
}

function nodesInFlight({ story }: Member): string {
  return [...story.inFlight].map(({ name }) => name).join(', ')
}

function nameOf({ namespace, name }: DaemonSetStory): string {
  return `${namespace}/${name}`
}
