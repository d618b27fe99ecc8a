/** Result of one check of `doctor`. */
export interface DoctorFinding {
  /** Name of the check: `server`, `resources`, `rights` … */
  readonly check: string
  /** `problem` fails the command; `unknown` means that the check was not possible. */
  readonly state: 'ok' | 'note' | 'problem' | 'unknown'
  /** Result as a sentence without a stop. */
  readonly message: string
  /** Suggested fix; absent if there is nothing to do. */
  readonly fix?: string
}
