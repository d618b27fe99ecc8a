import { readFileSync } from 'node:fs'
import { valueIn } from '@tranche/kube-types'
import type { Impersonation } from './impersonation.ts'
import { invalidKubeConfig } from './kube-config-error.ts'

/** What a kubeconfig says about the user to act as beside the name, which the parsing library drops. */
export type ImpersonatedParts = Pick<Impersonation, 'groups' | 'uid' | 'extra'>

const KEYS = /as-(?:groups|uid|user-extra)/

/**
 * Reads `as-groups`, `as-uid` and `as-user-extra` of a user. A user is in one file only.
 *
 * @throws {AppError} KUBECONFIG_INVALID if one of them has the wrong type
 */
export async function readImpersonatedParts(paths: readonly string[], userName: string): Promise<ImpersonatedParts> {
  for (const path of paths) {
    const text = readFileSync(path, 'utf8')
    if (!KEYS.test(text)) continue
    const user = (await usersIn(text)).find(({ name }) => name === userName)?.user
    if (user !== undefined) return partsOf(user, (key, type) => wrongType(path, userName, key, type))
  }
  return { groups: [] }
}

interface NamedUser {
  readonly name?: unknown
  readonly user?: Readonly<Record<string, unknown>>
}

/** The library has parsed the file with the same parser, and has reported its errors. */
async function usersIn(text: string): Promise<readonly NamedUser[]> {
  const { load } = await import('js-yaml')
  const { users } = load(text) as { users?: readonly NamedUser[] }
  return users ?? []
}

function partsOf(user: Readonly<Record<string, unknown>>, wrong: (key: string, type: string) => Error): ImpersonatedParts {
  const groups = valueIn(user, 'as-groups') ?? []
  const uid = valueIn(user, 'as-uid') ?? undefined
  const extra = valueIn(user, 'as-user-extra') ?? {}
  if (!isTexts(groups)) throw wrong('as-groups', 'a list of texts')
  if (uid !== undefined && typeof uid !== 'string') throw wrong('as-uid', 'a text')
  if (!isListsOfTexts(extra)) throw wrong('as-user-extra', 'a map of lists of texts')
  return { groups, ...(uid !== undefined && uid !== '' && { uid }), extra }
}

function isListsOfTexts(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isTexts)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function wrongType(path: string, user: string, key: string, type: string): Error {
  return invalidKubeConfig(path, `kubeconfig ${path}: ${key} of user ${user} is not ${type}`, {
    hint: `Make it ${type}; in YAML, put numbers into quotes.`,
  })
}
