/** What one look of the doctor came to. */
export interface DoctorFinding {
  /** What was looked at, in one word: `server`, `resources`, `rights` … */
  readonly check: string
  /** `problem` fails the command; `unknown`: we are not let look. */
  readonly state: 'ok' | 'note' | 'problem' | 'unknown'
  /** What was found. */
  readonly message: string
  /** What to do; absent where there is nothing to do. */
  readonly fix?: string
}
