/** The parts of a commit that a sign-off is checked against. */
export interface SignedCommit {
  readonly id: string
  readonly author: string
  readonly email: string
  readonly subject: string
  /** Values of the trailers `Signed-off-by`. */
  readonly signOffs: readonly string[]
}

/** Format of `git log` that {@link readCommits} reads: fields and commits end with control characters, which no message contains. */
export const commitFormat = '%H%x1f%an%x1f%ae%x1f%s%x1f%(trailers:key=Signed-off-by,valueonly,unfold)%x1e'

/** @param output of `git log --format=` with {@link commitFormat} */
export function readCommits(output: string): readonly SignedCommit[] {
  return output
    .split('\x1e')
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map((text) => {
      const [id = '', author = '', email = '', subject = '', trailers = ''] = text.split('\x1f')
      return {
        id,
        author,
        email,
        subject,
        signOffs: trailers
          .split('\n')
          .map((line) => line.trim())
          .filter((line) => line !== ''),
      }
    })
}

/** @returns what is missing, with the fix; null if the author signed the commit off. The name may differ, the address may not */
export function faultOfSignOff({ id, email, subject, signOffs }: SignedCommit): string | null {
  const addresses = signOffs.map((line) => /<([^<>]+)>$/.exec(line)?.[1]?.toLowerCase())
  if (addresses.includes(email.toLowerCase())) return null
  const found = signOffs.length === 0 ? 'no Signed-off-by line' : `signed off by ${signOffs.join(', ')}, but written by <${email}>`
  return `${id.slice(0, 12)} "${subject}": ${found}; run git rebase --signoff`
}
