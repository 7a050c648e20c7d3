#include "core/figure/colour_map.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/find_by_id.h"

namespace attnscope {
namespace {

constexpr std::size_t kSize = 256;

// Published tables, six hexadecimal digits per colour.
//   viridis, magma: Smith and van der Walt, matplotlib 1.5 (CC0)
//   cividis: Nunez, Anderton and Renslow, 2018, doi:10.1371/journal.pone.0199239
//   batlow, vik, berlin: Crameri, 2018, doi:10.5281/zenodo.1243862 (MIT)
constexpr std::string_view kViridis =
    "44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668"
    "48176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979"
    "472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84"
    "433d84433e85423f854240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a"
    "3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d"
    "355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e"
    "2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e"
    "297b8e287c8e287d8e277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e"
    "23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b"
    "1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a486"
    "21a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d"
    "2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf70"
    "46c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f"
    "65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d549"
    "89d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30"
    "b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a"
    "d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723"
    "fde725";
constexpr std::string_view kMagma =
    "00000401000501010601010802010902020b02020d03030f03031204041405041606051806051a07061c08071e"
    "0907200a08220b09240c09260d0a290e0b2b100b2d110c2f120d31130d34140e36150e38160f3b180f3d19103f"
    "1a10421c10441d11471e114920114b21114e22115024125325125527125829115a2a115c2c115f2d11612f1163"
    "31116533106734106936106b38106c390f6e3b0f703d0f713f0f72400f74420f75440f76451077471078491078"
    "4a10794c117a4e117b4f127b51127c52137c54137d56147d57157e59157e5a167e5c167f5d177f5f187f601880"
    "621980641a80651a80671b80681c816a1c816b1d816d1d816e1e81701f81721f81732081752181762181782281"
    "7922827b23827c23827e24828025828125818326818426818627818827818928818b29818c29818e2a81902a81"
    "912b81932b80942c80962c80982d80992d809b2e7f9c2e7f9e2f7fa02f7fa1307ea3307ea5317ea6317da8327d"
    "aa337dab337cad347cae347bb0357bb2357bb3367ab5367ab73779b83779ba3878bc3978bd3977bf3a77c03a76"
    "c23b75c43c75c53c74c73d73c83e73ca3e72cc3f71cd4071cf4070d0416fd2426fd3436ed5446dd6456cd8456c"
    "d9466bdb476adc4869de4968df4a68e04c67e24d66e34e65e44f64e55064e75263e85362e95462ea5661eb5760"
    "ec5860ed5a5fee5b5eef5d5ef05f5ef1605df2625df2645cf3655cf4675cf4695cf56b5cf66c5cf66e5cf7705c"
    "f7725cf8745cf8765cf9785df9795df97b5dfa7d5efa7f5efa815ffb835ffb8560fb8761fc8961fc8a62fc8c63"
    "fc8e64fc9065fd9266fd9467fd9668fd9869fd9a6afd9b6bfe9d6cfe9f6dfea16efea36ffea571fea772fea973"
    "feaa74feac76feae77feb078feb27afeb47bfeb67cfeb77efeb97ffebb81febd82febf84fec185fec287fec488"
    "fec68afec88cfeca8dfecc8ffecd90fecf92fed194fed395fed597fed799fed89afdda9cfddc9efddea0fde0a1"
    "fde2a3fde3a5fde5a7fde7a9fde9aafdebacfcecaefceeb0fcf0b2fcf2b4fcf4b6fcf6b8fcf7b9fcf9bbfcfbbd"
    "fcfdbf";
constexpr std::string_view kCividis =
    "00224e00234f00245100255300255400265600275800285900285b00295d002a5f002a61002b62002c64002c66"
    "002d68002e6a002e6c002f6d00306f0030700031700031710132710533710833700c34700f3570123570143670"
    "16377018376f1a386f1c396f1e3a6f203a6f213b6e233c6e243c6e263d6e273e6e293f6e2a3f6d2b406d2d416d"
    "2e416d2f426d31436d32436d33446d34456c35456c36466c38476c39486c3a486c3b496c3c4a6c3d4a6c3e4b6c"
    "3f4c6c404c6c414d6c424e6c434e6c444f6c45506c46516c47516c48526c49536c4a536c4b546c4c556c4d556c"
    "4e566c4f576c50576c51586d52596d535a6d545a6d555b6d555c6d565c6d575d6d585e6d595e6e5a5f6e5b606e"
    "5c616e5d616e5e626e5e636f5f636f60646f61656f62656f636670646770656870656870666970676a71686a71"
    "696b716a6c716b6d726c6d726c6e726d6f726e6f736f7073707173717274727274727374737475747475757575"
    "7676767777767777777878777979777a7a787b7a787c7b787d7c787e7c787e7d787f7e78807f78817f78828079"
    "8381798482798582798683798784788885788985788a86788b87788c88788d88788e89788f8a78908b78918b78"
    "928c78928d78938e78948e77958f779690779791779892779992779a93769b94769c95769d95769e96769f9775"
    "a09875a19975a29975a39a74a49b74a59c74a69c74a79d73a89e73a99f73aaa073aba072aca172ada272aea371"
    "afa471b0a571b1a570b3a670b4a76fb5a86fb6a96fb7a96eb8aa6eb9ab6dbaac6dbbad6dbcae6cbdae6cbeaf6b"
    "bfb06bc0b16ac1b26ac2b369c3b369c4b468c5b568c6b667c7b767c8b866c9b965cbb965ccba64cdbb63cebc63"
    "cfbd62d0be62d1bf61d2c060d3c05fd4c15fd5c25ed6c35dd7c45cd9c55cdac65bdbc75adcc859ddc858dec958"
    "dfca57e0cb56e1cc55e2cd54e4ce53e5cf52e6d051e7d150e8d24fe9d34eead34cebd44bedd54aeed649efd748"
    "f0d846f1d945f2da44f3db42f5dc41f6dd3ff7de3ef8df3cf9e03afbe138fce236fde334fee434fee535fee636"
    "fee838";
constexpr std::string_view kBatlow =
    "011959021b59031c5a041e5a051f5a06215b07225b07245b08255b09275c0a285c0a2a5c0b2b5c0b2d5d0c2e5d"
    "0c2f5d0d315d0d325e0d335e0e355e0e365e0e375e0f385f0f395f0f3b5f0f3c5f103d5f103e5f103f60104060"
    "114160114260114360114460124561124661124761124861134961134a61134b61144c62144d62144e62154f62"
    "154f621650621651621752621753621854621855621956621957621a57621b58621b59621c5a621d5b621e5c62"
    "1e5d621f5d61205e61215f6122606123606024616025626026635f27635f28645f2a655e2b655e2c665d2d675d"
    "2f675c30685c31695b33695a346a5a356a59376b58386c583a6c573b6d563c6d563e6e553f6e54416f53426f52"
    "44705245705147715048714f4a724e4c724d4d734d4f734c50744b52744a5375495575485776475876465a7745"
    "5b77455d78445f7843607942627941637a40657a3f677b3e687b3e6a7b3d6c7c3c6d7c3b6f7d3a717d39737e38"
    "747e38767f37787f367980357b80347d81347f813381823282823184833186833088842f8a842f8c852e8e852e"
    "8f862d91862d93872c95872c97882c99882c9b892b9d892b9f892ba18a2ba38a2ca58b2ca78b2ca98c2cab8c2d"
    "ad8c2daf8d2eb18d2fb38e2fb58e30b78e31b98f32bb8f33bd8f34be9035c09036c29037c49138c6913ac8913b"
    "ca923ccb923ecd923fcf9340d19342d29343d49445d69446d89448d9954adb954bdd954dde964fe09651e19752"
    "e39754e49756e69858e7985ae9995cea995eeb9a60ed9a62ee9b64ef9b67f09c69f19d6bf29d6df39e70f49f72"
    "f59f74f6a077f7a179f8a17bf8a27ef9a380f9a382faa485faa587fba689fba68cfca78efca890fca993fca995"
    "fdaa97fdab9afdac9cfdac9efdada0fdaea2fdafa5fdafa7fdb0a9fdb1abfdb2adfdb2affdb3b1fdb4b4fdb4b6"
    "fdb5b8fdb6bafdb7bcfdb7befdb8c0fdb9c2fdbac4fdbac7fdbbc9fdbccbfdbccdfcbdcffcbed1fcbfd3fcbfd6"
    "fcc0d8fcc1dafcc2dcfcc3dffcc3e1fcc4e3fcc5e5fbc6e8fbc6eafbc7ecfbc8effbc9f1fbcaf3fbcaf6facbf8"
    "faccfa";
constexpr std::string_view kVik =
    "001261011462011563011764011865011a66021c67021d68021f6902206a02226b02236c02256d02276e02286f"
    "022a70022b71022d72022e7302307402317502337602347702367802377902397a023a7b033c7c033e7d033f7e"
    "03417f034280034481034582034783034984034a85044c86044d87044f8805518905528a06548b06568c07578d"
    "08598f095b900b5d910c5e920e6093106294116496136697156798176999196b9a1c6d9c1e6f9d20719e2373a0"
    "2575a12877a22b79a42d7ba5307da6337fa83681a93983ab3c85ac3f87ad4289af458bb0488db24b90b34e92b4"
    "5194b65496b75798b95a9aba5d9cbb619ebd64a0be67a2c06aa4c16da6c271a8c474aac577acc67aaec87db0c9"
    "80b2ca84b4cc87b6cd8ab8ce8dbad090bcd194bed297c0d49ac2d59dc4d6a0c5d8a3c7d9a7c9daaacbdcadcddd"
    "b0cfdeb3d1dfb6d3e1bad5e2bdd6e3c0d8e4c3dae5c6dbe6c9dde7ccdfe8cfe0e8d2e1e9d5e3e9d8e4e9dbe5e9"
    "dee6e9e0e6e9e2e7e8e5e7e8e7e7e7e8e7e5eae6e4ebe6e2ece5e0ede4deeee3dceee1daeee0d8eeded5eeddd3"
    "eedbd0eed9cdedd7cbedd5c8ecd3c5ecd1c3ebd0c0eacebde9ccbae9cab8e8c8b5e7c6b2e6c4b0e5c1ade4bfaa"
    "e4bea8e3bca5e2baa2e1b8a0e0b69ddfb49adfb298deb095ddae93dcac90dbaa8ddba88bdaa688d9a486d8a283"
    "d7a081d69f7ed69d7cd59b79d49977d39774d39572d29470d1926dd0906bcf8e68cf8c66ce8b64cd8961cc875f"
    "cc855dcb835aca8258c98056c97e53c87c51c77b4fc6794cc6774ac57548c47445c37243c27041c26e3fc16d3c"
    "c06b3abf6938be6736be6533bd6431bc622fbb602dba5e2ab85c28b75a26b65824b55521b3531fb2511db04f1b"
    "af4c18ad4a16ab4814a94512a74310a5400fa33e0da13c0b9f390a9c37099a3508983307963107942f06912d06"
    "8f2b068d29068b2706892606872406852206832106811f067f1e067e1d067c1b067a1a06781806761706741506"
    "7314067113076f11076d10076c0e076a0d07680c07670a076509076307076206076004085e03085d02085b0108"
    "590008";
constexpr std::string_view kBerlin =
    "9eb0ff9cb0fe9ab0fd98affc95affb93affa91aef98eaef78caef68aaef587adf485adf382adf280acf17eacf0"
    "7bacee79abed76abec74aaeb71aae96fa9e86ca9e66aa8e567a8e365a7e262a6e060a5df5da5dd5ba4db58a3d9"
    "56a2d754a0d5519fd34f9ed14d9dcf4b9bcd489aca4698c84497c64395c34194c13f92be3e90bc3c8eb93b8db7"
    "398bb43889b23787af3685ad3584aa3382a83280a6327ea3317ca1307a9e2f789c2e76992d75972c73942c7192"
    "2b6f8f2a6d8d296b8b29698828688627668327648126627f25607c245e7a245d78235b7522597322577121556e"
    "20546c20526a1f50681e4e651e4d631d4b611c495f1c475c1b465a1a44581a4256194153193f51183d4f173c4d"
    "173a4b16384916374715354415334214324014303e132f3c132d3a122c38122a3612293411273211263011242e"
    "11232c11212a112028101f26101d25101c23111b21111a2011191e11181c11161b111519111418111317121215"
    "121214131112141011140f10150e0e160e0d170d0b180c0a190c091a0c081b0b071c0b061d0b051e0b04200b04"
    "210b03220c02230c02240c02250c01260d01270d01280d012a0e012b0e012c0e002d0e002f0e00300f00310f00"
    "330f00340f003510003710003810003911003b11003c11013e12013f1201411201421301441301451401471401"
    "4815024a15024b16024d16024f1703501803521804541905561a05571b06591c075b1d085d1e095f1f0a61200b"
    "63210c65230e68240f6a25106c27116e2813702a14732b16752d17772f1979301b7b321c7d341e803620823722"
    "843924863b26883d288a3f2a8c402c8e422e904430924632944834964a36984c399a4d3b9c4f3d9e513fa05341"
    "a25544a45746a65948a85a4aaa5c4cac5e4fae6051b06253b26455b46658b6685ab86a5cba6b5fbc6d61be6f63"
    "c07165c27368c4756ac6776cc8796fca7b71cc7d73ce7f76d08178d2837ad5857dd7877fd98982db8b84dd8d86"
    "df8f89e1918be3938ee59590e79792ea9995ec9b97ee9d9af09f9cf2a19ff4a3a1f6a5a3f9a7a6fba9a8fdabab"
    "ffadad";

std::array<Colour, kSize> from_hex(std::string_view table) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  const auto byte = [&](std::size_t first) {
    return static_cast<std::uint8_t>(16 * digit(table[first]) + digit(table[first + 1]));
  };
  std::array<Colour, kSize> colours;
  for (std::size_t i = 0; i < kSize; ++i) {
    colours[i] = {byte(6 * i), byte(6 * i + 2), byte(6 * i + 4), 255};
  }
  return colours;
}

// sRGB encoding of a linear intensity.
std::uint8_t encoded(double linear) {
  const double value =
      linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
}

// CIE 1976 L*C*h (hue in degrees, white point D65), clamped to the sRGB gamut.
Colour from_lch(double lightness, double chroma, double hue) {
  const double angle = hue * std::numbers::pi / 180;
  const auto inverse = [](double f) {
    return f > 6.0 / 29 ? f * f * f : (116 * f - 16) / (24389.0 / 27);
  };
  const double f = (lightness + 16) / 116;
  const double x = 0.95047 * inverse(f + chroma * std::cos(angle) / 500), y = inverse(f);
  const double z = 1.08883 * inverse(f - chroma * std::sin(angle) / 200);
  return {encoded(3.2404542 * x - 1.5371385 * y - 0.4985314 * z),
          encoded(-0.9692660 * x + 1.8760108 * y + 0.0415560 * z),
          encoded(0.0556434 * x - 0.2040259 * y + 1.0572252 * z), 255};
}

// Blue and orange with a grey middle, for dark backgrounds. The middle contrasts with the
// background, and lightness and chroma rise steeply from it, so that 10% of the range is
// distinguishable from zero on a projector.
std::array<Colour, kSize> dusk() {
  constexpr double kMiddle = 36, kEnds = 82;   // lightness
  constexpr double kRise = 164, kFall = -128;  // coefficients of chroma: at most 52, 36 at the ends
  constexpr double kBlue = 262, kOrange = 62;  // hues
  std::array<Colour, kSize> colours;
  for (std::size_t i = 0; i < kSize; ++i) {
    const double t = 2.0 * static_cast<double>(i) / (kSize - 1) - 1, distance = std::abs(t);
    colours[i] = from_lch(kMiddle + (kEnds - kMiddle) * distance,
                          (kRise + kFall * distance) * distance, t < 0 ? kBlue : kOrange);
  }
  return colours;
}

// White (minimum) to black, in equal steps of CIE lightness L*.
std::array<Colour, kSize> ink() {
  std::array<Colour, kSize> colours;
  for (std::size_t i = 0; i < kSize; ++i) {
    const double lightness = 100.0 * (1.0 - static_cast<double>(i) / (kSize - 1));
    const double linear = lightness > 8 ? std::pow((lightness + 16) / 116, 3) : lightness / 903.3;
    const std::uint8_t grey = encoded(linear);
    colours[i] = {grey, grey, grey, 255};
  }
  return colours;
}

// Categorical colours of Okabe and Ito, distinguishable with all common kinds of colour vision.
// Black is omitted because it is invisible on a dark background.
constexpr std::array<Colour, 7> kOkabeIto{{{0, 114, 178, 255},
                                           {230, 159, 0, 255},
                                           {0, 158, 115, 255},
                                           {213, 94, 0, 255},
                                           {204, 121, 167, 255},
                                           {86, 180, 233, 255},
                                           {240, 228, 66, 255}}};

std::array<Colour, kSize> categories() {
  std::array<Colour, kSize> colours;
  for (std::size_t i = 0; i < kSize; ++i) colours[i] = kOkabeIto[i % kOkabeIto.size()];
  return colours;
}

}  // namespace

Colour ColourMap::at(double t) const {
  if (std::isnan(t)) return {128, 128, 128, 255};
  return colours[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * (kSize - 1)))];
}

const std::vector<ColourMap>& colour_maps() {
  using Kind = ColourMap::Kind;
  static const std::vector<ColourMap> maps{
      {"viridis", "Viridis", Kind::Sequential, from_hex(kViridis)},
      {"magma", "Magma", Kind::Sequential, from_hex(kMagma)},
      {"cividis", "Cividis", Kind::Sequential, from_hex(kCividis)},
      {"batlow", "Batlow", Kind::Sequential, from_hex(kBatlow)},
      {"grey", "Grey (ink on paper)", Kind::Sequential, ink()},
      {"vik", "Vik (blue-white-red)", Kind::Diverging, from_hex(kVik)},
      {"berlin", "Berlin (blue-black-red)", Kind::Diverging, from_hex(kBerlin)},
      {"dusk", "Dusk (blue-grey-orange)", Kind::Diverging, dusk()},
  };
  return maps;
}

const ColourMap& colour_map(std::string_view id) {
  static const ColourMap categorical{kCategories, "Categories", ColourMap::Kind::Categorical,
                                     categories()};
  return id == categorical.id ? categorical : find_by_id(colour_maps(), id, "colour map");
}

const char* diverging_colours(const Theme& theme) {
  return theme.is_dark() ? "dusk" : "vik";
}

}  // namespace attnscope
