import { parse } from 'yaml'
import { ApiStatusError } from '../status-error.ts'
import { duplicateFields } from './duplicate-fields.ts'

/** A body as a value, and the fields that stand in it more than once. */
export interface RequestBody {
  readonly value: unknown
  readonly duplicateFields: readonly string[]
}

const longestBody = 3 * 1024 * 1024

/**
 * Reads a body by its content type: JSON, or YAML when the type says so.
 *
 * @throws {ApiStatusError} 400 when the text is neither, 413 above 3 MiB, 415 for protobuf
 */
export function readRequestBody(text: string | undefined, contentType: string): RequestBody {
  if (text === undefined || text.trim() === '') return { value: undefined, duplicateFields: [] }
  if (contentType.includes('protobuf'))
    throw new ApiStatusError(
      415,
      'UnsupportedMediaType',
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    )
  if (text.length > longestBody) throw new ApiStatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${longestBody}`)
  try {
    if (contentType.includes('yaml')) return { value: parse(text, { uniqueKeys: false }) as unknown, duplicateFields: [] }
    return { value: JSON.parse(text) as unknown, duplicateFields: duplicateFields(text) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ApiStatusError(
      400,
      'BadRequest',
      `the object provided is unrecognized: couldn't get version/kind; json parse error: ${reason}`,
    )
  }
}
