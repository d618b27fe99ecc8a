import { type ManifestDocument, readManifests } from '@tranche/manifests'

/** One parsed document of a file. */
export interface SourceDocument extends ManifestDocument {
  /** Path as given; `-` for standard input. */
  readonly source: string
}

/** Splits the text of a file into documents. Never throws. */
export function readDocuments(source: string, text: string): readonly SourceDocument[] {
  return readManifests(text).map((document) => ({ source, ...document }))
}
