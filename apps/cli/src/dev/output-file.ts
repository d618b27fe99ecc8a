import { closeSync, existsSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { AppError } from '@tranche/errors'

/** A file that grows line by line. */
export interface LineFile {
  writeLine(line: string): void
  /** Writes what is still held, and closes. */
  close(): void
}

/** Lines are gathered up to this many characters before they are written. */
const GATHERED_CHARACTERS = 64 * 1024

/**
 * Opens a file for lines; what stood in it is gone.
 *
 * @throws {AppError} FILE_UNWRITABLE
 */
export function openLineFile(path: string): LineFile {
  requireFolder(path)
  const fd = tryTo(path, () => openSync(path, 'w', 0o600))
  let gathered = ''
  const flush = (): void => {
    tryTo(path, () => writeSync(fd, gathered))
    gathered = ''
  }
  return {
    writeLine(line) {
      gathered += `${line}\n`
      if (gathered.length >= GATHERED_CHARACTERS) flush()
    },
    close() {
      flush()
      closeSync(fd)
    },
  }
}

/**
 * Writes a file that is either whole or not there at all, readable by this user alone.
 *
 * @throws {AppError} FILE_UNWRITABLE
 */
export function writeWhole(path: string, text: string): void {
  requireFolder(path)
  const unfinished = `${path}.${process.pid}.tmp`
  tryTo(path, () => {
    try {
      writeFileSync(unfinished, text, { mode: 0o600 })
      renameSync(unfinished, path)
    } catch (error) {
      rmSync(unfinished, { force: true })
      throw error
    }
  })
}

/** @throws {AppError} FILE_UNWRITABLE when the folder of `path` does not exist */
export function requireFolder(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw cannotWrite(path, new Error(`the folder ${folder} does not exist`))
}

/** @returns the error for a file that cannot be written */
export function cannotWrite(path: string, cause: unknown): AppError {
  return new AppError('FILE_UNWRITABLE', `${path} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`, {
    details: { path },
    hint: 'Name a file in a folder that exists and that you may write to.',
    cause,
  })
}

function tryTo<T>(path: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    throw cannotWrite(path, error)
  }
}
