import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/**
 * Finds a program in the absolute folders of `PATH`, as a shell does. A program that only a relative entry leads to is refused, because
 * it depends on the current folder which program that is; so is one that every user of the machine could have put there.
 *
 * @param command a name without `/`
 * @returns its absolute path
 * @throws {Error} where none is found, or the one that is found is refused; the message names the folder and the fix
 */
export function findProgram(command: string, path: string): string {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, command)
    if (!isProgram(file)) continue
    if (!isAbsolute(folder))
      throw new Error(
        `it stands in ${named(folder)} of PATH, which is relative to the current folder; name its absolute path in exec.command`,
      )
    const open = [folder, file].find(isOpenToAll)
    if (open !== undefined) throw new Error(`every user of this machine can write to ${open}; move it, or take that right away (chmod o-w)`)
    return file
  }
  throw new Error('there is no such program in the folders of PATH')
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The sticky bit keeps others from replacing a file, and not from putting the first one there. */
function isOpenToAll(path: string): boolean {
  return (statSync(path).mode & 0o002) !== 0
}

function named(folder: string): string {
  return folder === '' ? 'an empty entry' : `the entry ${JSON.stringify(folder)}`
}
