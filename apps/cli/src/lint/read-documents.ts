import { type ManifestDocument, readManifests } from '@tranche/manifests'

/** One document of a file, as parsed. */
export interface SourceDocument extends ManifestDocument {
  /** File as it was named; `-` for standard input. */
  readonly source: string
}

/** Takes the text of a file apart. Never throws. */
export function readDocuments(source: string, text: string): readonly SourceDocument[] {
  return readManifests(text).map((document) => ({ source, ...document }))
}
