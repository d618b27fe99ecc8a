/** Health of a program in the process, or of Redis. */
export interface ProgramHealth {
  /** Whether the first lists of the cluster have arrived; for Redis, whether it accepted the connection. */
  readonly isReady: () => boolean
  /** State in one word. @default derived from the other members */
  readonly says?: () => string
  /** Whether it is the leader; only for programs with leader election. */
  readonly isLeading?: () => boolean
}

/** Health of a program that has not started. */
export const notYet: ProgramHealth = { isReady: () => false }

/** Program that {@link followHealth} observes. */
export interface FollowedProgram extends Pick<ProgramHealth, 'isLeading'> {
  readonly ready: Promise<unknown>
}

/** @returns the health of a started program, evaluated on each read */
export function followHealth({ ready, isLeading }: FollowedProgram): ProgramHealth {
  let isReady = false
  ready.then(
    () => (isReady = true),
    () => {}, // an error that ends the program also ends the process
  )
  return { isReady: () => isReady, ...(isLeading && { isLeading }) }
}
