import { boundFault } from '@tranche/manifests'
import { wellFormedJson } from '@tranche/kube-types'
import { parseDocument } from 'yaml'
import { ApiStatusError } from '../../model/status-error.ts'
import { jsonShapeOf } from './json-shape.ts'
import { DEEPEST_UNPACKED, packDeepValues } from '../../model/packed-values.ts'

/** Parsed body, and its duplicate fields. */
export interface RequestBody {
  readonly value: unknown
  readonly duplicateFields: readonly string[]
}

/** The only YAML patch format. */
export const APPLY_PATCH = 'application/apply-patch+yaml'

/** Maximum size in bytes; longer bodies are rejected. */
export const LONGEST_BODY = 3 * 1024 * 1024

/** Accepted content types of objects. */
const objectTypes: readonly string[] = ['application/json', 'application/yaml']

/**
 * Parses a body by its content type: JSON, or YAML when the type says so.
 *
 * @param accepted content types; those of objects by default
 * @throws {ApiStatusError} 400 when the text is invalid or too deeply nested, 413 above 3 MiB, 415 for any other type
 */
export function readRequestBody(text: string | undefined, contentType: string, accepted = objectTypes): RequestBody {
  if (text === undefined || text === '') return { value: undefined, duplicateFields: [] }
  if (!accepted.includes(contentType)) throw unknownFormat(accepted)
  refuseTooLarge(text)
  if (text.trim() === '') return { value: undefined, duplicateFields: [] }
  try {
    const json = wellFormedJson(contentType.includes('yaml') ? JSON.stringify(parseYaml(text)) : text)
    refuseTooLarge(json)
    const value: unknown = JSON.parse(json)
    const { duplicateFields, levels } = jsonShapeOf(json)
    return { value: levels > DEEPEST_UNPACKED ? (JSON.parse(packDeepValues(json)) as unknown) : value, duplicateFields }
  } catch (error) {
    if (error instanceof ApiStatusError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    const fault =
      contentType === APPLY_PATCH
        ? 'error decoding YAML'
        : "the object provided is unrecognized: couldn't get version/kind; json parse error"
    throw new ApiStatusError(400, 'BadRequest', `${fault}: ${reason}`)
  }
}

/** An API server also rejects too many aliases. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: false, logLevel: 'error', prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) throw error
  const fault = boundFault(document)
  if (fault !== undefined) throw new Error(`yaml: ${fault.why}`)
  return document.toJS({ maxAliasCount: -1 })
}

/** Aliases make a short YAML text expand to a long one. */
function refuseTooLarge(text: string): void {
  if (text.length > LONGEST_BODY || Buffer.byteLength(text) > LONGEST_BODY)
    throw new ApiStatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${LONGEST_BODY}`)
}

/** @returns rejection of a content type, with the accepted ones */
export function unknownFormat(accepted: readonly string[]): ApiStatusError {
  return new ApiStatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}
