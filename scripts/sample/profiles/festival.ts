import { names, type Profile, towns } from '../profile.ts';

/** A festival in Kyoto, with a currency without minor units and a zone without summer time. */
export const festival: Profile = {
  organizationId: 'tsukimi-matsuri',
  name: '月見祭実行委員会',
  branches: ['奈良', '金沢', '札幌', '福岡', '松山'],
  zone: 'Asia/Tokyo',
  countryCode: 'JP',
  currency: { code: 'JPY', minorUnits: 1 },
  priceStep: 100,
  taxRate: 0.1,
  orderNumberPrefix: '月-',
  invoicePrefix: '請求-',
  places: {
    house: {
      name: '月見座 能楽堂',
      address: ['東山区清水町3丁目294番地', '月見座ビル 2階', '京都市', '605-0862', 'JP'],
    },
    away: { name: '鴨川左岸 特設会場', address: ['左京区下鴨宮河町', null, '京都市', '606-0801', 'JP'] },
    tour: {
      name: 'Kulturhaus am See',
      address: ['Seestraße 5', null, 'Zürich', '8002', 'CH'],
      zone: 'Europe/Zurich',
    },
    town: { name: '宇治川河川敷(雨天決行・駐車場なし・受付は堤防上のテント)' },
    online: {},
  },
  productions: {
    play: ['能と狂言の夕べ', '「羽衣」「附子」ほか。英語字幕つき。', '能', '狂言', 'English Subtitles'],
    gala: ['年越し花火と初日の出', null, '花火', '  年越し ', 'カウントダウン'],
    tales: ['月見座 子ども寄席', '落語と紙切り。', '落語', 'こども'],
    online: ['配信:デジタル夏祭り', 'どこからでも参加できるライブ配信。', '配信', '音楽'],
    run: ['常設展「光の庭」', '時間指定制の没入型展示。', '展示', '光', 'アート'],
    tour: ['Café Zürich — ジャズの夜', 'スイスと日本の五人。', 'ジャズ', '音楽', 'Café'],
  },
  offers: {
    best: ['S席', '<p>正面席。<strong>プログラム引換券</strong>付き。</p>'],
    good: ['A席', '<p>脇正面席。</p>'],
    cheap: ['B席'],
    standing: ['芝生エリア(自由)', '<p>開場は20分前です。</p>'],
    stream: ['配信チケット'],
    talk: ['装束の解説', '<p>終演後、ロビーにて。</p>'],
    workshop: ['紙切り教室'],
    book: ['公演プログラム', '<p>64ページ、<em>写真</em>入り。</p>'],
    shirt: ['Tシャツ「月」'],
    duo: ['プログラム付きペア', '<p>S席2枚とプログラム。</p>'],
    pass: ['月見パス', '<p>三公演の<strong>通し券</strong>。</p>'],
  },
  blocs: { best: ['正面 東', '正面 西'], good: ['脇正面'], cheap: ['中正面'], standing: ['芝生エリア'] },
  rates: ['一般', '学生', '小学生以下', '招待'],
  shopRate: 'ショップ価格',
  withTicketRate: 'チケットと同時購入',
  optionLabels: ['サイズ', '色', '生地'],
  variants: [
    ['S', '白', '綿'],
    ['M', '白', '綿'],
    ['L', '黒', '麻'],
  ],
  form: {
    formId: 'form_hanabi',
    fields: {
      emergency_contact: ['家族', '友人', '勤務先'],
      transport: ['電車', '自転車', '徒歩', 'シャトルバス'],
      language: ['日本語', 'English', '中文', '한국어'],
    },
    multiple: ['transport'],
  },
  discounts: [
    { code: '早割', percent: 15 },
    { code: 'TSUKIMI500', percent: 5 },
  ],
  salesChannels: [
    { salesChannelId: '100', salesChannelName: '公式サイト', issuanceChannel: 'ONLINE' },
    { salesChannelId: '200', salesChannelName: 'コンビニ発券', issuanceChannel: 'KIOSK' },
    { salesChannelId: '300', salesChannelName: '当日窓口', issuanceChannel: 'BOX_OFFICE' },
  ],
  carriers: { home: 'yamato', pickup: 'konbini' },
  pickupPoints: [
    ['kb-26-0117', '下鴨本通店', '左京区下鴨東本町8', '京都市', '606-0863'],
    ['kb-27-0930', '梅田三丁目店', '北区梅田3丁目1-9', '大阪市', '530-0001'],
  ],
  insurance: { serviceId: 'anshin', serviceName: 'チケットあんしん補償' },
  donation: { serviceId: 'kifu', serviceName: '能楽堂修復募金' },
  optIns: ['メールマガジン', 'アンケート'],
  population: {
    firstNames: names(
      '陽菜/hina 蓮/ren 葵/aoi 大翔/hiroto さくら/sakura 悠真/yuma 結衣/yui 健一/kenichi 由美子/yumiko 翔太/shota Émilie 美咲/misaki',
    ),
    lastNames: names(
      '佐藤/sato 鈴木/suzuki 髙橋/takahashi 田中/tanaka 伊藤/ito 渡邊/watanabe 山本/yamamoto 中村/nakamura 小林/kobayashi 斎藤/saito 清水/shimizu 森/mori',
    ),
    streets: ['神宮前3丁目%番', '西陣中央町%', '本町通り%番地', '北区紫野東町%', '桜ヶ丘2丁目%番'],
    addressLines2: ['コーポ月見 203号室', 'グリーンハイツ 5階'],
    towns: towns('京都市 600-8216, 大阪市 530-0001, 神戸市 650-0021, 渋谷区 150-0001'),
    companies: [
      { companyName: '株式会社月見商事', vatNumber: 'T0000000000001' },
      { companyName: '有限会社あおい工房', vatNumber: 'T0000000000002' },
    ],
    phone: '+81 3-0000-####',
  },
};
