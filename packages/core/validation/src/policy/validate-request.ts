import { type Analysis, fillTemplate, type SecretKey, sizeLimits, templateArguments, templateLeavings } from '@tranche/api-schema'
import { clipText } from '@tranche/kube-types'
import { isObjectName, isSecretKey } from '../fields/names.ts'
import { findingsOfEach } from '../problems/bounded.ts'
import { type Problem, problemOf } from '../problems/problem.ts'
import { repeated, textProblems } from './validate-values.ts'

type Header = NonNullable<NonNullable<Analysis['http']>['headers']>[number]

/** Headers that the HTTP client or the connection sets. */
const ownHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect']
/** Maximum characters of a header value. */
const LONGEST_HEADER = sizeLimits.headerValue
/** Maximum characters of a URL. */
const LONGEST_URL = sizeLimits.url
/** Maximum characters of the names of arguments in a fix. */
const LONGEST_NAMES = 300

/**
 * Reports a URL that no request can be sent to. Its path and query may contain the arguments in `names`.
 *
 * @param names arguments that `{{…}}` may name; empty when arguments are not allowed
 */
export function urlProblems(path: string, value: string, names: readonly string[]): readonly Problem[] {
  const long = textProblems(path, value, LONGEST_URL)
  if (long.length > 0) return long
  const templates = templateProblems(path, value, names)
  if (templates.length > 0) return templates
  const message = urlFault(value, names)
  return message === null ? [] : [problemOf('PolicyUrl', { path, value, ...message })]
}

function urlFault(text: string, names: readonly string[]): { readonly message?: string; readonly fix?: string } | null {
  if (/^[^/]*:\/\/[^/?#]*\{\{/.test(text)) return { message: 'the host cannot be an argument', fix: 'write the host itself' }
  const url = URL.parse(fillTemplate(text, Object.fromEntries(names.map((name) => [name, '1']))))
  if (url === null || text !== text.trim() || !/^https?:\/\//i.test(text)) return {}
  if (url.username !== '' || url.password !== '') {
    return {
      message: 'every user who may read the policy can read the user and the password in the URL',
      fix: 'remove them, and add a header Authorization with valueFrom',
    }
  }
  return url.hash === '' ? null : { message: 'HTTP never sends the part from # on', fix: 'remove that part' }
}

/** Reports unknown argument names and unclosed braces. A `}}` alone is valid: it may end two objects of JSON. */
export function templateProblems(path: string, value: string, names: readonly string[]): readonly Problem[] {
  if (names.length === 0 && value.includes('{{')) {
    return [problemOf('PolicyTemplate', { path, value, message: 'arguments are not allowed here', fix: 'remove the braces' })]
  }
  const unknown = templateArguments(value).filter((name) => !names.includes(name))
  const known = clipText(names.join(', '), LONGEST_NAMES)
  const open = templateLeavings(value).filter((leaving) => leaving.startsWith('{{'))
  return [
    ...findingsOfEach(unknown, (name) => [
      problemOf('PolicyTemplate', {
        path,
        value,
        message: `the argument ${name} does not exist`,
        fix: `name one of ${known}, or remove {{${name}}}`,
      }),
    ]),
    ...(open.length === 0
      ? []
      : [
          problemOf('PolicyTemplate', {
            path,
            value,
            message: 'a {{ is not followed by a name and }}',
            fix: `close it, such as {{${names[0]}}}, or remove it`,
          }),
        ]),
  ]
}

/**
 * Reports headers that cannot be sent. Their values are never shown.
 *
 * @param names arguments that `{{…}}` may name in a value; empty when arguments are not allowed
 */
export function headerProblems(path: string, headers: readonly Header[] | undefined, names: readonly string[]): readonly Problem[] {
  const twice = repeated((headers ?? []).map(({ name }) => name.toLowerCase()))
  return findingsOfEach(headers ?? [], (header, index) => [
    ...oneHeader(`${path}[${index}]`, header, names),
    ...(twice.includes(index)
      ? [
          problemOf('PolicyHeader', {
            path: `${path}[${index}].name`,
            value: header.name,
            message: 'the header is listed twice',
            fix: 'remove one',
          }),
        ]
      : []),
  ])
}

function oneHeader(path: string, { name, value, valueFrom }: Header, names: readonly string[]): readonly Problem[] {
  const named = nameProblems(`${path}.name`, name)
  if (value === undefined && valueFrom === undefined)
    return [...named, problemOf('PolicyHeader', { path: `${path}.value`, value: undefined })]
  if (value !== undefined && valueFrom !== undefined) {
    return [
      ...named,
      problemOf('PolicyHeader', {
        path: `${path}.valueFrom`,
        value: valueFrom,
        message: 'a header must have either value or valueFrom',
        fix: 'remove one of the two',
      }),
    ]
  }
  return [...named, ...valueProblems(`${path}.value`, value, names), ...secretProblems(`${path}.valueFrom`, valueFrom)]
}

function nameProblems(path: string, name: string): readonly Problem[] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)) {
    return [
      problemOf('PolicyHeader', {
        path,
        value: name,
        message: 'it is not a valid header name',
        fix: 'set it to a name such as Authorization',
      }),
    ]
  }
  if (!ownHeaders.includes(name.toLowerCase())) return []
  return [problemOf('PolicyHeader', { path, value: name, message: 'the HTTP client sets this header itself', fix: 'remove the entry' })]
}

function valueProblems(path: string, value: string | undefined, names: readonly string[]): readonly Problem[] {
  if (value === undefined) return []
  const templates = templateProblems(path, value, names).map((problem) => ({ ...problem, value: hidden(value) }))
  if (value.length <= LONGEST_HEADER && /^[\t -~\u0080-\u00ff]*$/.test(value)) return templates
  const message = `a header value must be one line of up to ${LONGEST_HEADER} Latin-1 characters`
  return [problemOf('PolicyHeader', { path, value: hidden(value), message, fix: 'correct the value' }), ...templates]
}

/** Placeholder for a value that may be a secret: its length only. */
function hidden(value: string): string {
  return `${value.length} characters`
}

/** Reports a reference whose name or key is invalid for a Secret. */
export function secretProblems(path: string, secret: SecretKey | undefined): readonly Problem[] {
  if (secret === undefined) return []
  const { name, key } = secret
  return [
    ...(isObjectName(name)
      ? []
      : [problemOf('PolicySecret', { path: `${path}.name`, value: name, message: 'it must be a valid Secret name' })]),
    ...(isSecretKey(key)
      ? []
      : [problemOf('PolicySecret', { path: `${path}.key`, value: key, message: 'it must be a valid key of a Secret' })]),
  ]
}
