import type { BatchRelease, Waiting } from '@tranche/api-schema'
import { badBeforeText, type BatchProgress, firstNodes, unwellText } from '@tranche/planner'
import { type Outline, progressOf } from './outline.ts'

/** What a release waits for; without `since` where the status has yet to say it. */
export type PresentWait = Omit<Waiting, 'since'> & { readonly since?: string }

/**
 * What the release waits for, by its nodes as they stand now: the status names those of the moment at which it was written. What no count
 * of nodes tells stands as the status says it. Undefined where it waits for nothing.
 */
export function presentWait(outline: Outline): PresentWait | undefined {
  const { facts, release } = outline
  const said = release?.status?.waiting
  const hasAccepted = (release?.status?.failure?.accepted ?? []).length > 0
  if (said === undefined || facts.fleet === undefined || hasAccepted || !countedReasons.includes(said.reason)) return said
  const progress = progressOf(outline)
  // Which nodes use the budget up, and what that keeps back, the status alone says.
  if (said.reason === 'BudgetUsedUp' && said.nodes.every((node) => progress.unavailable.includes(node))) return said
  const now = countedWait(progress, release)
  return now.reason === said.reason ? { ...now, since: said.since } : now
}

/** The message of the status, with what it waits for as that is now; undefined before the first. */
export function presentMessage(outline: Outline): string | undefined {
  const message = outline.facts.rollout.status?.message
  if (message === undefined || outline.release === undefined) return message && withoutLiftedFailure(outline, message)
  const tail = waitInMessage.exec(message)
  if (tail === null) return message
  const wait = presentWait(outline)
  if (wait === undefined) return progressOf(outline).state === 'Ready' ? `${message.slice(0, tail.index)}${UNSEEN}` : message
  return `${message.slice(0, tail.index)}${waitText(wait)}`
}

/** @returns what is waited for, and since when where that is known */
export function waitText({ message, since }: PresentWait): string {
  return since === undefined ? message : `${message} (since ${since})`
}

/** Reasons that nodes alone decide. */
const countedReasons: readonly string[] = ['NotAvailable', 'Upgrading', 'BudgetUsedUp']

/** What a batch waits for stands at the end of a message. */
const waitInMessage =
  /(?:waiting for updated nodes to become available: |waiting for new pods on |\d+ more nodes? (?:is|are) to be updated).*$/s

const UNSEEN = 'every node of the batch is available, which the controller has yet to see'

function countedWait(progress: BatchProgress, release: BatchRelease | undefined): Omit<PresentWait, 'since'> {
  const { unwell, between, effectiveSize, updated, state } = progress
  if (state === 'Ready') return { reason: 'Upgrading', message: UNSEEN, nodes: [] }
  if (unwell.length > 0) {
    const message = `waiting for updated nodes to become available: ${unwellText(progress)}${badBeforeText(progress, release?.status?.flight)}`
    return { reason: 'NotAvailable', message, nodes: unwell.map(({ node }) => node) }
  }
  if (between.length > 0) return { reason: 'Upgrading', message: `waiting for new pods on ${firstNodes(between)}`, nodes: between }
  const lack = effectiveSize - updated
  const message = lack === 1 ? '1 more node is to be updated' : `${lack} more nodes are to be updated`
  return { reason: 'Upgrading', message, nodes: [] }
}

/** A failure that a retry has accepted is not why somebody took the version back afterwards. */
function withoutLiftedFailure({ facts: { rollout } }: Outline, message: string): string {
  const { failure, heldRevisions = [] } = rollout.status ?? {}
  if (failure?.reason !== 'Accepted') return message
  const aborted = heldRevisions.find(
    ({ revision, reason }) => reason === 'Aborted' && message.includes(`revision ${revision} was taken back`),
  )
  return aborted === undefined
    ? message
    : message.replace(`was taken back, for it failed: ${failure.message}`, 'was taken back by an abort')
}
