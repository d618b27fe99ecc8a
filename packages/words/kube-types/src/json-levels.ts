/**
 * Maximum nesting of objects and lists in values that the programs walk; a pod template needs about 20. API servers accept 10,000 where no
 * schema bounds a value. Functions that recurse by level overflow the stack long before that.
 */
export const JSON_LEVELS_MAX = 100

/** @returns whether objects and lists are nested more than `levels` deep; takes the stack of at most that many levels */
export function nestsDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => nestsDeeperThan(levels - 1, member))
}

/**
 * Replaces objects and lists below `levels` with null, in place. The writer could have stored the result as well, so it adds no case to the
 * code behind it. Its text differs from that of every value with fewer levels.
 *
 * @param value freshly parsed JSON that no other code holds
 * @returns whether anything was replaced
 */
export function cutDeepJson(value: unknown, levels: number = JSON_LEVELS_MAX): boolean {
  if (!isNest(value)) return false
  return Array.isArray(value) ? cutItems(value, levels) : cutMembers(value as Record<string, unknown>, levels)
}

function isNest(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function cutItems(list: unknown[], levels: number): boolean {
  let isCut = false
  for (let at = 0; at < list.length; at++) {
    const item = list[at]
    if (!isNest(item)) continue
    if (levels > 1) isCut = cutDeepJson(item, levels - 1) || isCut
    else {
      list[at] = null
      isCut = true
    }
  }
  return isCut
}

/** `for in` makes no list of the keys, and parsed JSON inherits none. */
function cutMembers(object: Record<string, unknown>, levels: number): boolean {
  let isCut = false
  for (const key in object) {
    const member = object[key]
    if (!isNest(member)) continue
    if (levels > 1) isCut = cutDeepJson(member, levels - 1) || isCut
    else {
      object[key] = null
      isCut = true
    }
  }
  return isCut
}
