/** How one program of a process is, or what it cannot work without. */
export interface ProgramHealth {
  /** Whether the first lists of the cluster have arrived; of Redis, whether it has let us in. */
  readonly isReady: () => boolean
  /** One word for how it is. @default what the other members come to */
  readonly says?: () => string
  /** Whether it acts at this moment; only of programs that elect a leader. */
  readonly isLeading?: () => boolean
}

/** The health of a program that has not been started yet. */
export const notYet: ProgramHealth = { isReady: () => false }

/** What {@link followHealth} looks at. */
export interface FollowedProgram extends Pick<ProgramHealth, 'isLeading'> {
  readonly ready: Promise<unknown>
}

/** @returns the health of a program that has been started, as it is when somebody asks */
export function followHealth({ ready, isLeading }: FollowedProgram): ProgramHealth {
  let isReady = false
  ready.then(
    () => (isReady = true),
    () => {}, // what ended it ends the process
  )
  return { isReady: () => isReady, ...(isLeading && { isLeading }) }
}
