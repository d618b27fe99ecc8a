import { AppError } from '@tranche/errors'
import { type IntOrString, scaleIntOrPercent } from '@tranche/kube-types'

/** An entry with a cumulative size, such as a step of a Rollout. */
export interface Sized {
  readonly replicas?: IntOrString | undefined
}

/**
 * Resolves a cumulative size to a number of nodes. Percentages round UP; whole numbers are clamped to the desired nodes,
 * because nodes may have left since the plan was written.
 *
 * @param size a whole number from 1 or a percentage from 1% to 100%
 * @param desired nodes on which the DaemonSet should run (≥ 0)
 * @returns nodes, in 1…desired; 0 when nothing is desired
 * @throws {AppError} BATCH_SIZE_INVALID when `size` is neither
 */
export function resolveSize(size: IntOrString, desired: number): number {
  const nodes = scaleIntOrPercent(size, desired)
  if (nodes === null || isNothing(size)) {
    throw new AppError('BATCH_SIZE_INVALID', `Size ${JSON.stringify(size)} is not a whole number from 1 or a percentage from 1% to 100%`, {
      details: { size },
      hint: 'Write a whole number such as 3, or a percentage such as "10%".',
    })
  }
  return Math.min(nodes, desired)
}

/**
 * Resolves steps to cumulative numbers of nodes. Sizes never shrink: a later step is at least as large as those before it,
 * even with mixed numbers and percentages after nodes have left.
 *
 * @param desired nodes on which the DaemonSet should run (≥ 0)
 * @returns one size for each step, non-decreasing, each in 1…desired; all 0 when nothing is desired
 * @throws {AppError} BATCH_SIZE_INVALID when a step has no valid size; {@link validateRollout} reports that earlier and with a fix
 */
export function resolveSteps(steps: readonly Sized[], desired: number): readonly number[] {
  let largest = 0
  return steps.map(({ replicas }) => {
    largest = Math.max(largest, resolveSize(replicas ?? 0, desired))
    return largest
  })
}

function isNothing(size: IntOrString): boolean {
  return Number(String(size).replace('%', '')) === 0
}
