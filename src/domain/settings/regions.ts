// Checks the name of a Vertex AI region and suggests the nearest known one for a misspelling.
// It must not know accounts. A region that Google adds later passes without a change here.
import { isRegion } from "../ProviderAccount.ts"
import { editDistance, hint, nearest } from "../text/nearest.ts"

/** Regions that served Vertex AI when this was written. Source: Vertex AI locations page. */
const regions = [
  "us-central1",
  "us-east1",
  "us-east4",
  "us-east5",
  "us-south1",
  "us-west1",
  "us-west2",
  "us-west3",
  "us-west4",
  "northamerica-northeast1",
  "northamerica-northeast2",
  "southamerica-east1",
  "southamerica-west1",
  "europe-central2",
  "europe-north1",
  "europe-southwest1",
  "europe-west1",
  "europe-west2",
  "europe-west3",
  "europe-west4",
  "europe-west6",
  "europe-west8",
  "europe-west9",
  "europe-west12",
  "asia-east1",
  "asia-east2",
  "asia-northeast1",
  "asia-northeast2",
  "asia-northeast3",
  "asia-south1",
  "asia-southeast1",
  "asia-southeast2",
  "australia-southeast1",
  "australia-southeast2",
  "africa-south1",
  "me-central1",
  "me-central2",
  "me-west1"
]
const multiRegions = ["global", "us", "eu"]
const areaOf = (region: string): string => region.replace(/\d+$/, "")
const areas = [...new Set(regions.map(areaOf))]

/** Undefined for a valid region; else the end of the sentence `"x" is not a region`. */
export const regionFault = (text: string): string | undefined => {
  if (multiRegions.includes(text)) return undefined
  const area = areaOf(text)
  const number = text.slice(area.length)
  const misspelt = !areas.includes(area) && areas.some((one) => editDistance(one, area) === 1)
  if (isRegion(text) && text.includes("-") && number !== "" && !misspelt) return undefined
  const known = [...multiRegions, ...regions]
  const near = misspelt ? nearest(`${area}${number === "" ? "1" : number}`, known) : nearest(text, known)
  return near === undefined ? ", such as us-central1, global, us or eu" : hint(near, known)
}
