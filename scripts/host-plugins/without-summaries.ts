/** A summary of an error, with its text in single or double quotes. */
const SUMMARY = /\bsummary:\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g

/**
 * @param code source of the error catalog
 * @returns the same with empty summaries, which only the REST API and the docs read
 */
export function withoutSummaries(code: string): string {
  return code.replaceAll(SUMMARY, "summary: ''")
}
