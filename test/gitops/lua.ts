import { LuaFactory, LuaLibraries } from 'wasmoon'

const factory = new LuaFactory()

/** The clock that scripts read, in epoch seconds. */
export interface LuaOptions {
  readonly nowSeconds?: number
}

/**
 * Runs a script like Argo CD. `obj` is a copy of the object, and the result of the script becomes JSON. Only the libraries `base`,
 * `table` and, with `require`, a part of `os` are available.
 *
 * @throws if the script ends with an error
 */
export async function runLua(script: string, obj: object, { nowSeconds = 1_700_000_000 }: LuaOptions = {}): Promise<unknown> {
  const engine = await factory.createEngine({ openStandardLibs: false, enableProxy: false, injectObjects: false })
  try {
    for (const library of [LuaLibraries.Base, LuaLibraries.Table]) engine.global.loadLibrary(library)
    engine.global.set('obj', structuredClone(obj))
    engine.global.set('now', nowSeconds)
    await engine.doString(confinement)
    return await engine.doString(script)
  } finally {
    engine.global.close()
  }
}

/** The part of the library `os` that Argo CD keeps, and no function that loads anything else. */
const confinement = `
local seconds = now
local os = { time = function() return seconds end }
now = nil
dofile, loadfile = nil, nil
function require(name)
  if name == "os" then return os end
  error("no module " .. name)
end`
