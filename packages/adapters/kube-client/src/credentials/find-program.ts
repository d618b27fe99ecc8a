import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Finds a program in the absolute folders of `PATH`, as a shell does.
 *
 * A program that only a relative entry leads to is rejected, because the result depends on the current folder. A program that every user of
 * the machine could have put there is rejected too.
 *
 * @param command name without `/`
 * @returns its absolute path
 * @throws {Error} if no program is found, or it is rejected; the message names the folder and the fix
 */
export function findProgram(command: string, path: string): string {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, command)
    if (!isProgram(file)) continue
    if (!isAbsolute(folder))
      throw new Error(`it is in ${named(folder)} of PATH, which is relative to the current folder; set exec.command to its absolute path`)
    const open = [folder, file].find(isOpenToAll)
    if (open !== undefined)
      throw new Error(`every user of this machine can write to ${open}; move it, or remove that permission (chmod o-w)`)
    return file
  }
  throw new Error('no such program in the folders of PATH')
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The sticky bit prevents replacing a file, but not creating it first. */
function isOpenToAll(path: string): boolean {
  return (statSync(path).mode & 0o002) !== 0
}

function named(folder: string): string {
  return folder === '' ? 'an empty entry' : `the entry ${JSON.stringify(folder)}`
}
