import { sha256Of } from './archives.ts'

/** A file of a release, by its name. */
export interface ReleaseFile {
  readonly name: string
  readonly bytes: Buffer
}

/** @returns SHA256SUMS, in the form that `sha256sum --check` reads, sorted by name */
export function checksumsOf(files: readonly ReleaseFile[]): string {
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return sorted.map(({ name, bytes }) => `${sha256Of(bytes)}  ${name}\n`).join('')
}
