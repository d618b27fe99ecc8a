import { type Analysis, fillTemplate, type SecretKey, templateArguments, templateLeavings } from '@tranche/api-schema'
import { isObjectName, isSecretKey } from '../names.ts'
import { type Problem, problemOf } from '../problem.ts'
import { repeated, textProblems } from './validate-values.ts'

type Header = NonNullable<NonNullable<Analysis['http']>['headers']>[number]

/** Headers that belong to the connection, or that the client writes itself. */
const ownHeaders = ['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect']
/** The longest value of a header, in characters. */
const LONGEST_HEADER = 8_192
/** The longest URL, in characters. */
const LONGEST_URL = 2_048

/**
 * A URL that no request can be sent to. Arguments may stand in its path and query, where `names` has any.
 *
 * @param names arguments that `{{…}}` may name; empty where none are put in
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
  if (/^[^/]*:\/\/[^/?#]*\{\{/.test(text)) return { message: 'the host stands in it, and is no argument', fix: 'write the host' }
  const url = URL.parse(fillTemplate(text, Object.fromEntries(names.map((name) => [name, '1']))))
  if (url === null || text !== text.trim() || !/^https?:\/\//i.test(text)) return {}
  if (url.username !== '' || url.password !== '') {
    return {
      message: 'a user and a password can be read there by everybody',
      fix: 'remove them, and add a header Authorization with valueFrom',
    }
  }
  return url.hash === '' ? null : { message: 'what stands behind # is never sent', fix: 'remove it' }
}

/** Names that stand for nothing, and braces without a name; a `}}` alone may end two objects of JSON. */
export function templateProblems(path: string, value: string, names: readonly string[]): readonly Problem[] {
  if (names.length === 0 && value.includes('{{')) {
    return [problemOf('PolicyTemplate', { path, value, message: 'no arguments are put in here', fix: 'remove the braces' })]
  }
  const unknown = templateArguments(value).filter((name) => !names.includes(name))
  const open = templateLeavings(value).filter((leaving) => leaving.startsWith('{{'))
  return [
    ...unknown.map((name) =>
      problemOf('PolicyTemplate', {
        path,
        value,
        message: `there is no argument ${name}`,
        fix: `name one of ${names.join(', ')}, or remove {{${name}}}`,
      }),
    ),
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
 * Headers that cannot be sent. Their values are never shown.
 *
 * @param names arguments that `{{…}}` may name in a value; empty where none are put in
 */
export function headerProblems(path: string, headers: readonly Header[] | undefined, names: readonly string[]): readonly Problem[] {
  const twice = repeated((headers ?? []).map(({ name }) => name.toLowerCase()))
  return (headers ?? []).flatMap((header, index) => [
    ...oneHeader(`${path}[${index}]`, header, names),
    ...(twice.includes(index)
      ? [
          problemOf('PolicyHeader', {
            path: `${path}[${index}].name`,
            value: header.name,
            message: 'it stands there twice',
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
        message: 'a header has either value or valueFrom',
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
        message: 'it is not the name of a header',
        fix: 'set it to a name such as Authorization',
      }),
    ]
  }
  if (!ownHeaders.includes(name.toLowerCase())) return []
  return [problemOf('PolicyHeader', { path, value: name, message: 'the connection itself writes this header', fix: 'remove the entry' })]
}

function valueProblems(path: string, value: string | undefined, names: readonly string[]): readonly Problem[] {
  if (value === undefined) return []
  const templates = templateProblems(path, value, names).map((problem) => ({ ...problem, value: hidden(value) }))
  if (value.length <= LONGEST_HEADER && /^[\t -~\u0080-\u00ff]*$/.test(value)) return templates
  const message = `a value is one line of up to ${LONGEST_HEADER} characters of Latin-1`
  return [problemOf('PolicyHeader', { path, value: hidden(value), message, fix: 'mend the value' }), ...templates]
}

/** Of a value that may be a secret. */
function hidden(value: string): string {
  return `a text of ${value.length} characters`
}

/** A reference to a secret that can be none. */
export function secretProblems(path: string, secret: SecretKey | undefined): readonly Problem[] {
  if (secret === undefined) return []
  const { name, key } = secret
  return [
    ...(isObjectName(name) ? [] : [problemOf('PolicySecret', { path: `${path}.name`, value: name, message: 'it names no Secret' })]),
    ...(isSecretKey(key) ? [] : [problemOf('PolicySecret', { path: `${path}.key`, value: key, message: 'it is no key of a Secret' })]),
  ]
}
