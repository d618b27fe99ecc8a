/** The program that checks, as findings name it. */
export interface Examiner {
  /** `this command` */
  readonly name: string
  /** Machine that it runs on: `this machine`. */
  readonly machine: string
  readonly version: string
  /** Whether its user needs the rights of the command line; otherwise missing ones are only a note. */
  readonly needsRights: boolean
}
