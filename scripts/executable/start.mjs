/**
 * First code of the single executable. The programs are files in it, and modules are loaded from files: they are written to the cache of the
 * user once for each build, and loaded from there. Plain JavaScript, bundled into one script without other modules.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { pathToFileURL } from 'node:url'
import vm from 'node:vm'
import { brotliDecompressSync } from 'node:zlib'
import { cacheFolder } from '../../apps/launcher/bin/compile-cache.mjs'

const DAY_MS = 24 * 3_600_000
/** Builds that no process has used for this time are removed, in milliseconds. */
const UNUSED_MS = 30 * DAY_MS
const { digest, files } = JSON.parse(getAsset('index', 'utf8'))

start(join(unpacked(), 'bin/tranche.mjs'))

/** A script in an executable imports only built-in modules, unless it asks for the loader of files. */
function start(file) {
  const load = vm.runInThisContext('(url) => import(url)', { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
  load(pathToFileURL(file).href).catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
}

/** @returns the folder with the files of this build */
function unpacked() {
  const cache = cacheFolder(process.env, process.getuid?.(), 'programs')
  if (cache === undefined) return unpackedForOnce()
  const folder = join(cache, digest)
  if (!existsSync(folder)) {
    unpackAt(folder)
    removeUnused(cache)
  }
  markUsed(folder)
  // A controller may run for months, and loads some files late.
  setInterval(markUsed, DAY_MS, folder).unref()
  return folder
}

function markUsed(folder) {
  try {
    utimesSync(folder, new Date(), new Date())
  } catch {
    // The home has become read-only: nothing removes the folder then, either.
  }
}

/** Without a folder that no other user can write to, the files are written for this process alone. */
function unpackedForOnce() {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  unpack(folder)
  return folder
}

/** Another process may do the same: the first one that is done wins. */
function unpackAt(folder) {
  const unfinished = mkdtempSync(`${folder}-`)
  unpack(unfinished)
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}

function unpack(folder) {
  const content = brotliDecompressSync(Buffer.from(getRawAsset('content')))
  let at = 0
  for (const { path, size } of files) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content.subarray(at, at + size))
    at += size
  }
}

function removeUnused(cache) {
  for (const name of readdirSync(cache)) {
    const folder = join(cache, name)
    try {
      if (Date.now() - statSync(folder).mtimeMs > UNUSED_MS) rmSync(folder, { recursive: true })
    } catch {
      // Another process removes it, or it is not ours: it is only a cache.
    }
  }
}
