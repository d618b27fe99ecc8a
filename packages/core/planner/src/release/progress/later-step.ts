/** The present step of a release, and what the policy leaves of its nodes. */
export interface StepInPlan {
  /** From 1; later steps have greater numbers. */
  readonly step: number
  readonly steps: number
  /** Whether the policy leaves a node: none is updated while it excludes all of them. */
  readonly leavesNodes: boolean
}

/** Whether a jump to a later step may end a wait for nodes in reach. */
export function hasLaterStep({ step, steps, leavesNodes }: StepInPlan): boolean {
  return step < steps && leavesNodes
}
