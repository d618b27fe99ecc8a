import type { CheckPurpose, NodeCheck, Preparation, PreparationRules, PreparedNode } from '@tranche/fence'
import { actOnEach } from './act-on-each.ts'
import type { Check, CheckQuestion, CheckTarget } from './check.ts'

/** What a policy asks for on nodes, and what was done there. */
export interface PreparationReading {
  readonly preparation?: PreparationRules
  /** By node. */
  readonly prepared?: ReadonlyMap<string, readonly Preparation[]>
}

/** All checks of nodes as one. */
export interface NodePreparer {
  /** @returns what the policy asks for and what was done, both absent where there is none */
  read(target: CheckTarget): PreparationReading
  /** Asks the checks in order; the first that does not find the node ready answers. */
  check(target: CheckTarget, question: CheckQuestion, signal: AbortSignal): Promise<NodeCheck>
  /** Undoes what one check did on a node. */
  undo(target: CheckTarget, prepared: PreparedNode, signal: AbortSignal): Promise<void>
  /** Renews what one check did on a node. */
  renew(target: CheckTarget, prepared: PreparedNode, signal: AbortSignal): Promise<void>
  /** Undoes what was done for releases that control no DaemonSet any more. */
  sweep(signal: AbortSignal): Promise<void>
}

/** Puts checks together, in the order in which they are asked: those that cost or change least come first. */
export function createNodePreparer(checks: readonly Check[]): NodePreparer {
  return {
    read(target) {
      const rules = checks.flatMap((check) => check.rules(target) ?? [])
      const done = checks.flatMap((check) => check.preparations(target))
      return {
        ...(rules.length > 0 && { preparation: together(rules) }),
        ...(done.length > 0 && { prepared: Map.groupBy(done, ({ node }: Preparation) => node) }),
      }
    },
    async check(target, question, signal) {
      let strongest: CheckPurpose = 'deletion'
      for (const check of checks) {
        const answer = await check.check(target, question, signal)
        if (answer === null) continue
        if (answer.kind !== 'ready') return answer
        strongest = weaker(strongest, answer.for)
      }
      return { kind: 'ready', for: question.purpose === 'ahead' ? 'ahead' : strongest }
    },
    async undo(target, { node, check }, signal) {
      await checks.find(({ name }) => name === check)?.undo(target, node, signal)
    },
    async renew(target, { node, check }, signal) {
      await checks.find(({ name }) => name === check)?.renew?.(target, node, signal)
    },
    async sweep(signal) {
      await actOnEach(checks, (check) => check.sweep(signal), signal)
    },
  }
}

function together(rules: readonly PreparationRules[]): PreparationRules {
  return { ahead: Math.max(...rules.map(({ ahead }) => ahead)) }
}

const order: readonly CheckPurpose[] = ['ahead', 'permit', 'deletion']

function weaker(a: CheckPurpose, b: CheckPurpose): CheckPurpose {
  return order.indexOf(a) < order.indexOf(b) ? a : b
}
