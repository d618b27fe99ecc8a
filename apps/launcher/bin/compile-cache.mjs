// Plain JavaScript: it runs before any other module of tranche.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

/**
 * Enables the compile cache in the cache folder of the user. Node.js runs cached code unchecked, so a folder that another user could
 * write is not used; the program then starts without a cache. NODE_DISABLE_COMPILE_CACHE=1 disables the cache.
 */
export function keepCompiledCode() {
  const folder = cacheFolder(process.env, process.getuid?.())
  if (folder !== undefined) nodeModule.enableCompileCache?.(folder)
}

/**
 * @param part name of the folder in the cache of tranche
 * @returns the folder for compiled code, with mode 0700; undefined if none is safe or none can be created
 */
export function cacheFolder(env, uid, part = 'compiled') {
  const base = baseFolder(env)
  if (base === undefined || uid === undefined) return undefined
  try {
    const parent = realpathSync(dirname(base))
    const steps = [base, join(base, 'tranche'), join(base, 'tranche', part)]
    if (!isSafeChain(parent, uid)) return undefined
    for (const [index, folder] of steps.entries()) {
      makeFolder(folder)
      if (!isOwn(folder, uid, index === 0 ? 0o022 : 0o077)) return undefined
    }
    return steps[2]
  } catch {
    return undefined
  }
}

function baseFolder({ XDG_CACHE_HOME: cache, HOME: home }) {
  if (cache !== undefined && isAbsolute(cache)) return cache
  return home !== undefined && isAbsolute(home) ? join(home, '.cache') : undefined
}

/** Whether every folder up to the root belongs to this user or to root, and other users cannot replace its entries. */
function isSafeChain(folder, uid) {
  const { uid: owner, mode } = lstatSync(folder)
  if (owner !== uid && owner !== 0) return false
  const isShared = (mode & 0o022) !== 0
  const isSticky = (mode & 0o1000) !== 0
  if (isShared && !isSticky) return false
  return folder === dirname(folder) || isSafeChain(dirname(folder), uid)
}

function makeFolder(folder) {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** Whether it is a folder, not a link to one. */
function isOwn(folder, uid, forbidden) {
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === uid && (stats.mode & forbidden) === 0
}
