import { createSiteConfig, readSiteOptions } from '../src/index.ts'

export default createSiteConfig(readSiteOptions(process.env))
